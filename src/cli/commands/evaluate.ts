import { type Command, Option } from 'commander'
import type { CommandContext } from '../shared/console.ts'
import { AgogeError } from '../../error.ts'
import type { EvalAgentCommand } from '../llm/eval-agent.ts'
import type { InitCommand } from '../llm/init.ts'
import type { OptimiseCommand } from '../llm/optimise.ts'
import type { EvalArrayCommand } from '../classic/eval-array.ts'
import { optionsOfServers, showHelpFor } from '../shared/help.ts'
import {
  environmentKind,
  type EnvironmentKind,
  optionOf,
  optionOfBoth,
  positive,
  readTasksOption,
  refuseForeignOptions,
  several,
  share,
  tasksOrFile,
  wholeNumber,
  withContexts,
  withModel,
  withEnvironment,
} from '../shared/options.ts'
import type { PlayCommand } from '../play.ts'

// Options and help of agoge eval, audit, chat and play.

const otherHelp = (kind: EnvironmentKind): string =>
  [
    '',
    ...(kind === 'classic'
      ? ['Options for language models: agoge eval filesystem --help']
      : ['Options of classic RL: agoge eval cartpole --help']),
    ...(kind === 'agent' ? [] : ['Options for your own agent: agoge eval -c agoge.config.ts --help']),
  ].join('\n')

const setAbout = 'contexts: default, train, interpolation or extrapolation'

export function addInit({ program, terminal }: CommandContext): void {
  const init = program
    .command('init')
    .summary('start an agoge.config')
    .description('Ask five questions and write an agoge.config.ts, with three tasks, for `agoge eval`.')
    .option('--yes', 'take the default of every question')
  showHelpFor(init, { all: ['agoge init', 'agoge init --yes'] })
  init.action(async (options: InitCommand) => {
    const { runInit } = await import('../llm/init.ts')
    await runInit(options, terminal)
  })
}

export function addEval({ program, terminal, done }: CommandContext): void {
  const evaluate = withContexts(
    withModel(
      withEnvironment(
        program
          .command('eval')
          .summary('compare models, agents')
          .description(
            'Success (or mean return) of one or several models on held-out tasks, with intervals. Without an environment, and with an agoge.config.ts here: of your own agent.',
          ),
      ),
    ),
  )
  for (const option of [
    optionOf(
      'classic',
      new Option('--set <name>', `${setAbout}; repeatable (default: all)`).argParser(several),
    ),
    optionOfBoth(
      new Option(
        '--model <model>',
        'run or model folder, or URL#NAME of an OpenAI-compatible endpoint; repeatable to compare',
      ).argParser(several),
      'run folder; repeatable to compare (default: an agent that acts at random)',
    ),
    optionOf(
      'language',
      new Option('--tasks <n>', 'held-out tasks for each model; or a FILE.jsonl of tasks for a server')
        .argParser(tasksOrFile)
        .default(400),
    ),
    optionOf(
      'classic',
      new Option('--episodes <n>', 'for each agent (default: 100)').argParser(wholeNumber(1)),
    ),
    optionOfBoth(
      new Option('--seed <n>', "of tasks and sampling (default: the run's on its server, else 0)").argParser(
        wholeNumber(0),
      ),
      'of the episodes (default: 0)',
    ),
    optionOf(
      ['language', 'agent'],
      new Option('--threshold <share>', 'exit with code 2 if a model succeeds less often').argParser(share),
    ),
    optionOf(['classic', 'language', 'agent'], new Option('--json <file>', 'write the whole report')),
    ...agentOptions(),
  ])
    evaluate.addOption(option)
  showHelpFor(
    evaluate,
    {
      classic: [
        'agoge eval cartpole --model .agoge/runs/RUN',
        'agoge eval cartpole --model RUN --set extrapolation --episodes 200',
      ],
      mcp: [
        'agoge eval mcp:everything --model https://api.example.com/v1#some-model',
        'agoge eval mcp:everything --threshold 80% --json report.json',
      ],
      all: [
        'agoge eval --model .agoge/runs/RUN --tasks 200',
        'agoge eval reasoning --model https://api.example.com/v1#some-model',
      ],
      agent: [
        'agoge eval --trials 3 --budget 2',
        'agoge eval -c agoge.config.ts --baseline main.json --fail-on-regression',
      ],
    },
    otherHelp,
  )
  evaluate.action(async (environment: string, options, command: Command) => {
    const config = await configOf(options, command)
    if (config !== undefined) {
      refuseForeignOptions(command, config, 'agent')
      const { runEvalAgent } = await import('../llm/eval-agent.ts')
      return done(await runEvalAgent({ ...(options as EvalAgentCommand), config }, terminal))
    }
    const { isClassicEnvironment } = await import('../shared/environment-names.ts')
    if (await isClassicEnvironment(environment, command)) {
      const { runEvalArray } = await import('../classic/eval-array.ts')
      return runEvalArray(
        { ...(options as EvalArrayCommand), seed: options.seed ?? 0, environment },
        terminal,
      )
    }
    // Who expected a config here should not take these numbers for those of an agent.
    if (command.args.length === 0 && options.model === undefined)
      terminal.err(
        `no agoge.config.ts in this folder, so this is the environment ${environment} (agoge init starts a config of an agent)`,
      )
    const { runEval } = await import('../llm/eval.ts')
    const { tasks, ...others } = options
    done(await runEval({ tasks: 400, ...others, ...readTasksOption(tasks), environment }, terminal))
  })
}

/** Options of `agoge eval` for an agent of the user's own. */
function agentOptions(): Option[] {
  const options = [
    new Option('-c, --config <file>', 'your own agent (default: agoge.config.ts, if it is here)'),
    new Option('--trials <n>', 'of each task with each model').argParser(wholeNumber(1)),
    new Option('--budget <dollars>', 'never spend more than this').argParser(positive),
    new Option('--out <folder>', 'of the evaluation (default: a new one in .agoge/evaluations)'),
    new Option('--resume <folder>', 'continue an evaluation that was stopped'),
    new Option('--baseline <path>', 'an earlier evaluation to compare with: its folder, or its --json'),
    new Option('--fail-on-regression', 'exit with code 2 if a model is shown to be worse than in --baseline'),
    new Option('--split <name>', 'test or all tasks (default: test if tasks are marked, else all)').choices([
      'test',
      'all',
    ]),
    new Option('--until-certain', 'stop as soon as every comparison is clear of zero'),
    new Option('--markdown <file>', 'write a comment for a pull request'),
    new Option('--junit <file>', 'write JUnit XML'),
  ]
  return options.map((option) => optionOf('agent', option))
}

/** The config of the user's own agent: named, or in the current folder where no environment is named. */
export async function configOf(options: { config?: string }, command: Command): Promise<string | undefined> {
  const [environment] = command.args
  if (environment !== undefined && options.config !== undefined)
    throw new AgogeError('an environment and a config are two different things', {
      code: 'bad-option',
      given: `${environment} and --config ${options.config}`,
      expected: 'one of them',
    })
  if (environment !== undefined || options.config !== undefined) return options.config
  const { findConfig } = await import('../llm/eval-agent.ts')
  return findConfig()
}

export function addOptimise({ program, terminal }: CommandContext): void {
  const optimise = program
    .command('optimise')
    .summary('improve your agent')
    .description(
      'Search for instructions, demonstrations, tool descriptions, a model and methods, or train a local model, with which your agent succeeds more often, and test the best on tasks that nothing saw.',
    )
    .option('-c, --config <file>', 'your own agent (default: agoge.config.ts, if it is here)')
    .option('--budget <dollars>', 'never spend more than this', positive)
    .option('--tokens <n>', 'never use more tokens than this', wholeNumber(1))
    .option('--trials <n>', 'of each task', wholeNumber(1))
    .option('--proposer <model>', 'writes instructions, rules and descriptions: PROVIDER/ID')
    .option('--levers <names>', 'only these, with commas between (default: all that can be used)')
    .option('--seed <n>', 'of what is drawn by chance', wholeNumber(0))
    .option('--dry-run', 'say what would be done, and call nothing')
    .option('--setup <file>', 'where a setup that gains is written (default: agoge.setup.json)')
    .option('--out <folder>', 'of the search (default: a new one in .agoge/evaluations)')
    .option('--resume <folder>', 'continue a search that was stopped')
    .option('--json <file>', 'write the whole result')
    .option('--yes', 'accept the plan of calls of a server without asking')
  showHelpFor(optimise, {
    all: [
      'agoge optimise --budget 5 --proposer openai/gpt-5',
      'agoge optimise --levers sft,rl --tokens 2000000',
    ],
  })
  optimise.action(async (options: OptimiseCommand) => {
    const { runOptimise } = await import('../llm/optimise.ts')
    await runOptimise(options, terminal)
  })
}

export function addDiff({ program, terminal }: CommandContext): void {
  const diff = program
    .command('diff')
    .summary('what has changed')
    .description('Which tasks two evaluations differ on, with two conversations of each side by side.')
    .argument('<a>', 'the folder of an evaluation, or FOLDER#MODEL')
    .argument('<b>', 'another, or another model of the same')
    .option('--count <n>', 'changed tasks whose conversations are shown', wholeNumber(0), 3)
  showHelpFor(diff, {
    all: [
      'agoge diff .agoge/evaluations/A .agoge/evaluations/B',
      'agoge diff out#openai/gpt-5-mini out#openai/gpt-5 --count 10',
    ],
  })
  diff.action(async (a: string, b: string, options: { count: number }) => {
    const { runDiff } = await import('../llm/diff.ts')
    runDiff({ ...options, a, b }, terminal)
  })
}

export function addAudit({ program, terminal, done }: CommandContext): void {
  const audit = withEnvironment(
    program
      .command('audit')
      .summary('attack a judge')
      .description(
        'Attack the judge of an environment. Exit code 2 if an attack is rewarded for undone tasks.',
      ),
  )
    .option('--tasks <n>', 'held-out tasks that each attack is measured on', wholeNumber(1), 100)
    .option('--seed <n>', 'of tasks and attacks', wholeNumber(0), 0)
    .option('--threshold <share>', 'rate above which an attack is a finding (default: 2%)', share, 0.02)
    .option('--json [file]', 'print the whole report as JSON, or write it')
  showHelpFor(
    audit,
    {
      mcp: ['agoge audit mcp:memory --sandbox', 'agoge audit mcp:everything --tasks 40 --json report.json'],
      reasoning: ['agoge audit reasoning --tasks 200', 'agoge audit reasoning --task countdown --seed 1'],
      all: ['agoge audit ./my-environment.ts', 'agoge audit filesystem --tasks 200 --json report.json'],
    },
    optionsOfServers('audit'),
  )
  audit.action(async (environment: string, options, command: Command) => {
    const kind = environmentKind(environment)
    // A name that nothing has is reported as such later.
    if (kind !== 'classic') refuseForeignOptions(command, environment, kind)
    const { runAudit } = await import('../llm/audit.ts')
    done(await runAudit({ ...options, environment }, terminal))
  })
}

export function addChat({ program, terminal }: CommandContext): void {
  const chat = withModel(
    withEnvironment(
      program
        .command('chat')
        .summary('try a trained model')
        .description('Give a trained model requests; it acts on the live environment.'),
      new Option('--yes', 'allow calls that may change something, and the plan of calls, without asking'),
    ),
  )
    .option('--model <model>', 'run or model folder, or URL#NAME of an OpenAI-compatible endpoint')
    .option('--seed <n>', 'of initial states and suggested requests (default: 0)', wholeNumber(0))
  showHelpFor(chat, {
    mcp: [
      'agoge chat mcp:everything',
      'agoge chat mcp:everything --model https://api.example.com/v1#some-model',
    ],
    all: ['agoge chat', 'agoge chat --model .agoge/runs/RUN --temperature 0.5'],
  })
  chat.action(async (environment: string, options, command: Command) => {
    const kind = environmentKind(environment)
    // A name that nothing has is reported as such later.
    if (kind !== 'classic') refuseForeignOptions(command, environment, kind)
    const { runChat } = await import('../llm/chat.ts')
    await runChat({ ...options, environment }, terminal)
  })
}

export function addPlay({ program, terminal }: CommandContext): void {
  const play = withContexts(
    program
      .command('play')
      .summary('watch an agent act')
      .description('Watch a trained agent, or one that acts at random, in the terminal.'),
  )
    .option('--set <name>', `${setAbout} (default: train where they vary)`)
    .argument(
      '[environment]',
      'a name from `agoge envs`, or a FILE.ts that exports `environment`',
      'cartpole',
    )
    .option('--model <folder>', 'run folder of a trained agent')
    .option('--episodes <n>', 'how many', wholeNumber(1), 1)
    .option('--seed <n>', 'of the episodes', wholeNumber(0), 0)
    .option('--fps <n>', 'frames per second', wholeNumber(1), 30)
    .option(
      '--every <n>',
      'steps between frames (default: 1; 25 where output is no terminal)',
      wholeNumber(1),
    )
    .option('--render <path>', 'write frames: FILE.svg or FILE.png (animated), or a folder of images')
  showHelpFor(play, {
    all: ['agoge play cartpole --model .agoge/runs/RUN', 'agoge play maze --render maze.png --seed 3'],
  })
  play.action(async (environment: string, options: PlayCommand) => {
    const { runPlay } = await import('../play.ts')
    await runPlay({ ...options, environment }, terminal)
  })
}
