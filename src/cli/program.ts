import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { baseModelFolder } from '../language/base-model-folder.ts'
import type { Console } from './console.ts'
import { several, share, wholeNumber, withWorld } from './options.ts'
import type { TrainCommand } from './train.ts'

/**
 * The commands and their options. What a command needs is loaded when it runs, so that help and mistakes answer at once. `done` is told
 * the exit code.
 */
export function createProgram(terminal: Console, commandLine: string, done: (code: number) => void): Command {
  const program = new Command('agoge')
    .description(
      'Reinforcement learning for agents: point it at an MCP server and watch a model learn to use it.',
    )
    .version(version(), '-V, --version')
    .option('--debug', 'show stack traces')
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.err(text.trimEnd()),
    })
    .exitOverride()
    .showHelpAfterError('(agoge --help shows all commands)')
    .showSuggestionAfterError()

  withWorld(
    program.command('train').description('train the small model on a world, and show how much better it got'),
  )
    .option('--seed <n>', 'of tasks, sampling and training', wholeNumber(0), 0)
    .option('--steps <n>', 'of reinforcement learning', wholeNumber(1))
    .option('--tasks <n>', 'held-out tasks of each evaluation', wholeNumber(1))
    .option('--compare-supervised', 'also train by supervision alone for the same time, and compare')
    .option('--quick', 'a short run of about a minute: fewer demonstrations, steps and tasks')
    .option('--model <folder>', 'the base model to start from')
    .option('--from-scratch', 'make the base model first, from generated text')
    .option('--out <folder>', 'the run folder, instead of a new one under .agoge/runs')
    .option('--resume [folder]', 'go on with a run that was interrupted; the last one unless named')
    .action(async (world: string, options: Omit<TrainCommand, 'world' | 'commandLine'>) => {
      const { runTrain } = await import('./train.ts')
      await runTrain({ ...options, world, commandLine }, terminal)
    })

  program
    .command('pretrain')
    .description('make the base model from nothing but generated text')
    .option('--out <folder>', 'where the model goes', baseModelFolder)
    .option('--seed <n>', 'of corpus and weights', wholeNumber(0), 1)
    .option('--tokens <n>', 'of the corpus', wholeNumber(1))
    .option('--resume', 'go on where an earlier call with the same options stopped')
    .action(async (options: { out: string; seed: number; tokens?: number; resume?: boolean }) => {
      const { baseTokens, runPretrain } = await import('./pretrain.ts')
      await runPretrain({ ...options, tokens: options.tokens ?? baseTokens }, terminal)
    })

  withWorld(
    program.command('eval').description('success of one or several models on held-out tasks, with intervals'),
  )
    .option(
      '--model <model>',
      'a run or model folder, or URL#NAME of an OpenAI-compatible endpoint; can be repeated to compare',
      several,
    )
    .option('--tasks <n>', 'held-out tasks for each model', wholeNumber(1), 400)
    .option('--seed <n>', 'of tasks and sampling', wholeNumber(0), 0)
    .option('--temperature <t>', 'of sampling; 0 is greedy', Number, 0)
    .option(
      '--api-key-env <name>',
      'the environment variable with the key of the endpoint (default: OPENAI_API_KEY)',
    )
    .option('--threshold <share>', 'exit with code 2 where a model succeeds less often', share)
    .option('--json <file>', 'write the whole report there')
    .action(async (world: string, options) => {
      const { runEval } = await import('./eval.ts')
      done(await runEval({ ...options, world }, terminal))
    })

  withWorld(program.command('chat').description('talk to the trained model while it acts on the live server'))
    .option('--model <model>', 'a run or model folder, or URL#NAME of an OpenAI-compatible endpoint')
    .option('--seed <n>', 'of the states and requests on offer', wholeNumber(0), 0)
    .option('--temperature <t>', 'of sampling; 0 is greedy', Number, 0)
    .option(
      '--api-key-env <name>',
      'the environment variable with the key of the endpoint (default: OPENAI_API_KEY)',
    )
    .action(async (world: string, options) => {
      const { runChat } = await import('./chat.ts')
      await runChat({ ...options, world }, terminal)
    })

  program
    .command('doctor')
    .description('check what training needs, and say how to repair what is missing')
    .action(async () => {
      const { runDoctor } = await import('./doctor.ts')
      done(await runDoctor(terminal))
    })
  return program
}

function version(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
