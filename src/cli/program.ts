import { readFileSync } from 'node:fs'
import { Command, Option } from 'commander'
import { defined } from '../defined.ts'
import { policyPresets } from '../llm/algorithm/policy-optimisation/presets.ts'
import { trainingMethods } from '../llm/training/method-list.ts'
import { baseModelFolder } from '../llm/checkpoint/checkpoint.ts'
import type { Console } from './shared/console.ts'
import type { EvalArrayCommand } from './classic/eval-array.ts'
import { exportKinds, offlineMethods, weightTypes } from './llm/option-values.ts'
import { listed, rootHelp, showHelpFor } from './shared/help.ts'
import {
  environmentKind,
  type EnvironmentKind,
  optionOf,
  optionOfBoth,
  port,
  positive,
  refuseForeignOptions,
  several,
  share,
  typedOptions,
  wholeNumber,
  withContexts,
  withModel,
  withSamplingWeights,
  withEnvironment,
} from './shared/options.ts'
import type { PlayCommand } from './play.ts'
import type { TrainArrayCommand } from './classic/train-array.ts'
import type { TrainCommand } from './llm/train.ts'
import type { TrainOfflineCommand } from './llm/train-offline.ts'

/** Algorithms of language-model agents, one per line. */
const policyHelp = (kind: EnvironmentKind): string =>
  kind === 'classic'
    ? '\nAlgorithms and context features of an environment: agoge envs ENVIRONMENT\nOther options are for language models: agoge train filesystem --help'
    : [
        '\nAlgorithms:',
        ...listed(Object.entries(policyPresets).map(([name, { about }]) => [name, about])),
        '\nPreferences, imitation, distillation and critics, also by --algorithm:',
        ...listed(Object.entries(trainingMethods).map(([name, { about }]) => [name, about])),
        '\nOptions of classic RL: agoge train cartpole --help',
      ].join('\n')

const otherHelp =
  (command: string) =>
  (kind: EnvironmentKind): string =>
    kind === 'classic'
      ? `\nOptions for language models: agoge ${command} filesystem --help`
      : `\nOptions of classic RL: agoge ${command} cartpole --help`

const setAbout = 'contexts: default, train, interpolation or extrapolation'

/**
 * Defines the commands and their options. The code of a command is loaded when it runs, so that help and errors are
 * immediate.
 *
 * @param done receives the exit code.
 */
export function createProgram(terminal: Console, commandLine: string, done: (code: number) => void): Command {
  const program = new Command('agoge')
    .description('Reinforcement learning for agents: classic RL and language models with tools.')
    .version(version(), '-V, --version')
    .option('--debug', 'show stack traces')
    .configureHelp({ formatHelp: (command, helper) => rootHelp(command, helper) })
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.err(text.trimEnd()),
    })
    .exitOverride()
    .showHelpAfterError('(agoge --help shows all commands)')
    .showSuggestionAfterError()

  const train = withContexts(
    withSamplingWeights(
      withEnvironment(
        program
          .command('train')
          .summary('train on an environment, and report how much better it got')
          .description('Train on an environment, and report how much better it got.'),
      ),
    ),
  )
  for (const option of [
    optionOf('classic', new Option('--visible', 'append the varying context features to the observation')),
    optionOfBoth(
      new Option('--seed <n>', 'of tasks, sampling and training').argParser(wholeNumber(0)).default(0),
      'of environments and training',
    ),
    optionOfBoth(
      new Option('--steps <n>', 'of reinforcement learning').argParser(wholeNumber(1)),
      'of the environment',
    ),
    optionOfBoth(
      new Option('--algorithm <name>', 'see below (default: grpo-damped)'),
      'see agoge envs ENVIRONMENT (default: the first there)',
    ),
    optionOf('language', new Option('--teacher <model>', 'of distillation: a run or model folder')),
    optionOf(
      'language',
      new Option('--reward-model <run>', 'reward by a model of train-offline, not by success'),
    ),
    optionOf('classic', new Option('--preset <name>', 'published settings of the algorithm, as cleanrl')),
    optionOf(
      'classic',
      new Option('--encoder <kind>', 'mlp, cnn, gru or transformer; sizes as transformer,window=8,size=32'),
    ),
    optionOf(
      'classic',
      new Option('--bonus <kind>', 'exploration bonus: counts, rnd or icm; settings as rnd,weight=0.1'),
    ),
    optionOf(
      'classic',
      new Option('--seeds <n>', 'train n seeds from --seed on (default: 1), each in a process').argParser(
        wholeNumber(1),
      ),
    ),
    optionOf('classic', new Option('--num-envs <n>', 'environments of the vector').argParser(wholeNumber(1))),
    optionOf(
      'language',
      new Option('--tasks <n>', 'held-out tasks of each evaluation').argParser(wholeNumber(1)),
    ),
    optionOf(
      'language',
      new Option('--compare-supervised', 'also train by supervision alone for the same time'),
    ),
    optionOf(
      'language',
      new Option('--quick', 'about a minute: 320 demonstrations, 8 steps, 60 held-out tasks'),
    ),
    optionOf(
      'language',
      new Option('--model <folder>', 'base model (with --backend tinker, only its tokenizer)'),
    ),
    optionOf(
      'language',
      new Option('--lora <rank>', 'train a low-rank adapter, saved as PEFT reads it').argParser(
        wholeNumber(1),
      ),
    ),
    optionOf(
      'language',
      new Option('--max-staleness <n>', 'sample each batch up to n steps ahead (default: 0)').argParser(
        wholeNumber(0),
      ),
    ),
    optionOf(
      'language',
      new Option('--overlap', 'sample while training; needs --max-staleness of 1 or more'),
    ),
    optionOf('language', new Option('--from-scratch', 'make the base model first, from generated text')),
    optionOf('language', new Option('--backend <name>', 'local or tinker (default: local)')),
    optionOf(
      'language',
      new Option(
        '--tinker-url <url>',
        'server of --backend tinker (default: TINKER_BASE_URL, else http://127.0.0.1:8000); key in TINKER_API_KEY',
      ),
    ),
    optionOf('language', new Option('--tinker-model <name>', 'base model of the server, if it has several')),
    new Option('--out <folder>', 'run folder (default: a new one under .agoge/runs)'),
    new Option('--resume [folder]', 'resume a run (default: the last one)'),
  ])
    train.addOption(option)
  showHelpFor(
    train,
    {
      classic: [
        'agoge train cartpole --algorithm ppo --preset cleanrl',
        'agoge train pendulum --algorithm sac --seeds 5 --vary all',
      ],
      reasoning: [
        'agoge train reasoning --task arithmetic-chain --difficulty 1 --quick',
        'agoge train reasoning --algorithm dr-grpo --steps 60',
      ],
      mcp: ['agoge train mcp:everything --quick --yes', 'agoge train mcp:memory --sandbox --max-calls 5000'],
      module: ['agoge train ./environment.ts', 'agoge train ./environment.ts --seed 2 --out runs/mine'],
      all: ['agoge train --quick', 'agoge train --algorithm distillation --teacher RUN'],
    },
    policyHelp,
  )
  train.action(async (environment: string, options: TrainCommand & TrainArrayCommand, command: Command) => {
    const { isClassicEnvironment } = await import('./classic/classic-command.ts')
    const [named] = command.args
    if (await isClassicEnvironment(environment, command, options.resume)) {
      const { runTrainArray } = await import('./classic/train-array.ts')
      return runTrainArray({ ...options, environment, commandLine }, terminal)
    }
    const { runTrain } = await import('./llm/train.ts')
    const beside = { typed: typedOptions(command), environment: named }
    await runTrain({ ...options, environment, commandLine, beside }, terminal)
  })

  const evaluate = withContexts(
    withModel(
      withEnvironment(
        program
          .command('eval')
          .summary('success or mean return of models on held-out tasks')
          .description(
            'Success (or mean return) of one or several models on held-out tasks, with intervals.',
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
      new Option('--tasks <n>', 'held-out tasks for each model').argParser(wholeNumber(1)).default(400),
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
      'language',
      new Option('--threshold <share>', 'exit with code 2 if a model succeeds less often').argParser(share),
    ),
    new Option('--json <file>', 'write the whole report'),
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
    },
    otherHelp('eval'),
  )
  evaluate.action(async (environment: string, options, command: Command) => {
    const { isClassicEnvironment } = await import('./classic/classic-command.ts')
    if (await isClassicEnvironment(environment, command)) {
      const { runEvalArray } = await import('./classic/eval-array.ts')
      return runEvalArray(
        { ...(options as EvalArrayCommand), seed: options.seed ?? 0, environment },
        terminal,
      )
    }
    const { runEval } = await import('./llm/eval.ts')
    done(await runEval({ ...options, environment }, terminal))
  })

  const chat = withModel(
    withEnvironment(
      program
        .command('chat')
        .summary('give a trained model requests')
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
    const { runChat } = await import('./llm/chat.ts')
    await runChat({ ...options, environment }, terminal)
  })

  const play = withContexts(
    program
      .command('play')
      .summary('watch an agent in the terminal, or play a text adventure')
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
    const { runPlay } = await import('./play.ts')
    await runPlay({ ...options, environment }, terminal)
  })

  const serve = withSamplingWeights(program.command('serve'))
    .summary('an OpenAI-compatible or Tinker endpoint for a model')
    .description('An OpenAI-compatible endpoint in front of a model, until Ctrl-C.')
    .argument('[model]', 'run, checkpoint or model folder (default: the last run, else the base model)')
    .option('--port <n>', '0 takes any that is free', port, 8000)
    .option('--host <address>', 'any other address needs a key', '127.0.0.1')
    .option('--key <key>', 'that clients send (default: variable AGOGE_SERVE_KEY)')
    .option('--name <name>', 'of the model, for clients (default: the name of the folder)')
    .option('--tinker', 'serve the Tinker protocol: clients train the model')
    .option('--store <folder>', 'for checkpoints of --tinker (default: .agoge/tinker)')
    .option('--max-models <n>', 'of --tinker in memory at the same time (default: 8)', wholeNumber(1))
  showHelpFor(serve, {
    all: ['agoge serve .agoge/runs/RUN --port 8000', 'agoge serve --tinker --store checkpoints'],
  })
  serve.action(async (model: string | undefined, options) => {
    if (options.tinker === true) {
      const { runServeTinker } = await import('./llm/serve-tinker.ts')
      return runServeTinker({ ...options, ...defined({ model }) }, terminal)
    }
    const { runServe } = await import('./llm/serve.ts')
    await runServe({ ...options, ...defined({ model }) }, terminal)
  })

  const exported = program
    .command('export')
    .summary('a checkpoint, adapter, ONNX file or data set from a run')
    .description(
      'Write the trained model as a checkpoint or ONNX file, or the episodes of a run as a data set.',
    )
    .argument('[run]', 'run folder, checkpoint, or file of episodes (default: the last run)')
    .addOption(
      new Option(
        '--to <what>',
        'merged: a checkpoint; lora: an adapter as PEFT reads it; onnx: one file; sft, dpo, grpo: data sets as TRL reads them',
      )
        .choices(exportKinds)
        .makeOptionMandatory(),
    )
    .requiredOption('--out <path>', 'a new folder (merged, lora), FILE.onnx, FILE.jsonl or FILE.parquet')
    .addOption(new Option('--type <type>', 'of the weights (merged, lora)').choices(weightTypes))
    .option('--base <name>', 'base model of an adapter, as PEFT finds it (default: the one of the run)')
    .option('--tools <file>', 'JSON list of tools in the format of OpenAI, for the column `tools`')
  showHelpFor(exported, {
    all: [
      'agoge export --to merged --out models/mine',
      'agoge export .agoge/runs/RUN --to sft --out sft.jsonl',
    ],
  })
  exported.action(async (from: string | undefined, options) => {
    const { runExport } = await import('./llm/export.ts')
    await runExport({ ...options, ...defined({ from }) }, terminal)
  })

  const offline = program
    .command('train-offline')
    .summary('preferences and reward models from recorded episodes')
    .description('Train on recorded episodes: preferences (DPO and others), or a reward model.')
    .argument('[episodes]', 'a run folder, or a JSONL file of episodes (default: the last run)')
    .addOption(
      new Option('--method <name>', 'how it learns').choices(Object.keys(offlineMethods)).default('dpo'),
    )
    .requiredOption('--out <folder>', 'run folder')
    .option('--model <model>', 'a run or model folder to start from (default: the model of the run)')
    .option('--steps <n>', 'updates', wholeNumber(1), 60)
    .option('--batch <n>', 'pairs or episodes of an update', wholeNumber(1), 16)
    .option('--learning-rate <rate>', 'of the optimiser', positive, 1e-4)
    .option('--tasks <n>', 'held-out tasks, played before and after', wholeNumber(0), 60)
    .option('--seed <n>', 'of the order of the examples', wholeNumber(0), 0)
    .option('--resume', 'resume an earlier call with the same options')
  showHelpFor(
    offline,
    {
      all: [
        'agoge train-offline runs/first --method dpo --out runs/dpo',
        'agoge train-offline runs/first --method reward-model --out runs/reward',
      ],
    },
    () => ['\nMethods:', ...listed(Object.entries(offlineMethods))].join('\n'),
  )
  offline.action(
    async (episodes: string | undefined, options: Omit<TrainOfflineCommand, 'episodes' | 'commandLine'>) => {
      const { runTrainOffline } = await import('./llm/train-offline.ts')
      const named = episodes === undefined ? {} : { episodes }
      await runTrainOffline({ ...options, ...named, commandLine }, terminal)
    },
  )

  const pretrain = program
    .command('pretrain')
    .summary('make the base model from generated text')
    .description('Make the base model from nothing but generated text.')
    .option('--out <folder>', 'where the model goes', baseModelFolder)
    .option('--seed <n>', 'of corpus and weights', wholeNumber(0), 1)
    .option('--tokens <n>', 'of the corpus', wholeNumber(1))
    .option('--resume', 'resume an earlier call with the same options')
  showHelpFor(pretrain, {
    all: ['agoge pretrain --out models/mine --tokens 2000000', 'agoge pretrain --out models/mine --resume'],
  })
  pretrain.action(async (options: { out: string; seed: number; tokens?: number; resume?: boolean }) => {
    const { baseTokens, runPretrain } = await import('./llm/pretrain.ts')
    await runPretrain({ ...options, tokens: options.tokens ?? baseTokens }, terminal)
  })

  const envs = program
    .command('envs')
    .summary('the environments of classic RL, and what is in one')
    .description('The environments of classic RL: spaces, context features, algorithms.')
    .argument('[environment]', 'show one, with the ranges of its context features')
    .option('--json', 'everything, for programs')
  showHelpFor(envs, { all: ['agoge envs', 'agoge envs cartpole'] })
  envs.action(async (environment: string | undefined, options: { json?: boolean }) => {
    const { runEnvs } = await import('./classic/envs.ts')
    await runEnvs({ ...options, ...defined({ environment }) }, terminal)
  })

  // Loaded when asked for: experiments are no part of the library.
  const openPapers = async (given: Console) => (await import('./papers.ts')).openPapers(given)
  const papers = program
    .command('papers')
    .summary('experiments that put published claims to the test')
    .description('Experiments that put published claims to the test.')
    .helpCommand(false)
    .configureHelp({ helpWidth: 80 })
  const list = papers
    .command('list')
    .description('What there is, and what came of it.')
    .option('--json', 'as JSON')
  showHelpFor(list, { all: ['agoge papers list', 'agoge papers list --json'] })
  list.action(async (options: { json?: boolean }) => {
    const { listPapers, tools } = await openPapers(terminal)
    await listPapers(options, tools)
  })
  const run = papers
    .command('run')
    .argument('<id>', 'from `agoge papers list`')
    .description('Run every arm with every seed, give the verdict, keep the result.')
    .option('--quick', 'one seed and a small budget: shows only that it runs')
    .option('--workers <n>', 'processes at once (default: the number of cores)', wholeNumber(1))
  showHelpFor(run, { all: ['agoge papers run carl --quick', 'agoge papers run carl --workers 4'] })
  run.action(async (id: string, options: { quick?: boolean; workers?: number }) => {
    const { runPaperCommand, tools } = await openPapers(terminal)
    await runPaperCommand({ ...options, id, commandLine }, tools)
  })
  const report = papers
    .command('report')
    .description('A page with the scores and verdicts of all that were run.')
    .option('--out <file>', 'where the page goes')
  showHelpFor(report, { all: ['agoge papers report', 'agoge papers report --out papers.html'] })
  report.action(async (options: { out?: string }) => {
    const { reportPapers, tools } = await openPapers(terminal)
    reportPapers(options, tools)
  })

  const convert = program
    .command('convert')
    .argument('<run>', 'a run folder')
    .summary('rewrite a run of version 0.1, so that it can be resumed')
    .description('Rewrite a run of version 0.1 in the names of this version, so that it can be resumed.')
  showHelpFor(convert, {
    all: [
      'agoge convert .agoge/runs/RUN',
      'agoge convert .agoge/runs/RUN && agoge train --resume .agoge/runs/RUN',
    ],
  })
  convert.action(async (folder: string) => {
    const { convertRun } = await import('../runs/convert.ts')
    const files = convertRun(folder)
    terminal.out(files.length === 0 ? `${folder} needs no conversion` : `${folder}: ${files.join(', ')}`)
  })

  const doctor = program
    .command('doctor')
    .summary('check what training needs, and how to repair it')
    .description('Check what training needs, and say how to repair what is missing.')
  showHelpFor(doctor, { all: ['agoge doctor', 'AGOGE_RUNTIME=web agoge doctor'] })
  doctor.action(async () => {
    const { runDoctor } = await import('./doctor.ts')
    done(await runDoctor(terminal))
  })
  return program
}

function version(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
