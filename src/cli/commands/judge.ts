import type { JudgeCheckCommand } from '../llm/judge-check.ts'
import type { LabelCommand } from '../llm/label.ts'
import type { CommandContext } from '../shared/console.ts'
import { showHelpFor } from '../shared/help.ts'
import { port, several, share, wholeNumber } from '../shared/options.ts'

// Options and help of agoge label and judge.

export function addLabel({ program, terminal }: CommandContext): void {
  const label = program
    .command('label')
    .summary('rate trials blind')
    .description(
      'A page on this machine to rate the trials of an evaluation, without their models and scores, until Ctrl-C.',
    )
    .argument('[folder]', 'of an evaluation (default: the last one in .agoge/evaluations)')
    .option('--rater <name>', 'whose labels these are (default: your user name)')
    .option('--seed <n>', 'of the order', wholeNumber(0), 0)
    .option('--port <n>', '0 takes any that is free', port, 0)
  showHelpFor(label, {
    all: ['agoge label', 'agoge label .agoge/evaluations/FOLDER --rater anna --seed 2'],
  })
  label.action(async (folder: string | undefined, options: Omit<LabelCommand, 'folder'>) => {
    const { runLabel } = await import('../llm/label.ts')
    await runLabel({ ...options, folder }, terminal)
  })
}

export function addJudge({ program, terminal, done }: CommandContext): void {
  const judge = program
    .command('judge')
    .summary('can a judge be trusted')
    .description('Compare the judges of an evaluation with labels of people.')
    .helpCommand(false)
    .configureHelp({ helpWidth: 80 })
  const check = judge
    .command('check')
    .description(
      'How scorers agree with labels: kappa with a 95% interval, false passes and false failures. Exit code 2 if the interval of a judge begins below the threshold.',
    )
    .argument('<folder>', 'of a finished evaluation')
    .option('--labels <file>', 'lines of {"trial", "rater", "success"} (default: those of `agoge label`)')
    .option(
      '-c, --config <file>',
      'ask the scorers of this config about the trials, in place of the scores there',
    )
    .option('--scorer <name>', 'whose interval decides; repeatable (default: the judges)', several)
    .option('--threshold <kappa>', 'that the whole interval has to reach', share, 0.6)
    .option('--json <file>', 'write the whole report')
  showHelpFor(check, {
    all: [
      'agoge judge check .agoge/evaluations/FOLDER',
      'agoge judge check FOLDER -c agoge.config.ts --threshold 0.7',
    ],
  })
  check.action(async (folder: string, options: Omit<JudgeCheckCommand, 'folder'>) => {
    const { runJudgeCheck } = await import('../llm/judge-check.ts')
    done(await runJudgeCheck({ ...options, folder }, terminal))
  })
}
