import { readFileSync } from 'node:fs'
import { Command, Option } from 'commander'
import { policyPresets } from '../llm/algorithm/policy-optimisation/presets.ts'
import { baseModelFolder } from '../llm/checkpoint/checkpoint.ts'
import type { Console } from './shared/console.ts'
import type { EvalArrayCommand } from './classic/eval-array.ts'
import { exportKinds, weightTypes } from './llm/export-kinds.ts'
import {
  port,
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

/** Algorithms of language-model agents, one a line. */
const policyHelp = [
  '\nAlgorithms for tasks told in words:',
  ...Object.entries(policyPresets).map(([name, { about }]) => `  ${name.padEnd(22)}${about}`),
].join('\n')

const setHelp = 'which contexts: default, train, interpolation or extrapolation'

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

  withContexts(
    withSamplingWeights(
      withEnvironment(
        program
          .command('train')
          .description(
            'train on an environment, and show how much better it got: the small model, or a network',
          ),
      ),
    ),
  )
    .option('--visible', 'let the observation end with the context features that vary')
    .option('--seed <n>', 'of tasks, sampling and training', wholeNumber(0), 0)
    .option(
      '--steps <n>',
      'of reinforcement learning; for an environment of `agoge envs`, of the environment',
      wholeNumber(1),
    )
    .option(
      '--algorithm <name>',
      'how it learns; see below, and for an environment of `agoge envs` what that lists (default: grpo-damped, or the first of the list)',
    )
    .option('--preset <name>', 'published settings of the algorithm, for example cleanrl')
    .option(
      '--encoder <kind>',
      'what reads the observations: mlp, cnn, gru or transformer, with sizes as in transformer,window=8,size=32',
    )
    .option(
      '--bonus <kind>',
      'add to the rewards what pays for the new: counts, rnd or icm, with settings as in rnd,weight=0.1',
    )
    .option(
      '--seeds <n>',
      'train seeds 1 to n (or from --seed on), each in a process of its own',
      wholeNumber(1),
    )
    .option('--num-envs <n>', 'copies of the environment that are stepped together', wholeNumber(1))
    .option('--tasks <n>', 'held-out tasks of each evaluation', wholeNumber(1))
    .option('--compare-supervised', 'also train by supervision alone for the same time, and compare')
    .option(
      '--quick',
      'a short run: at most 320 demonstrations, 8 steps and 60 held-out tasks; about a minute on two free cores, longer on a server that is called slowly (its forecast says how long)',
    )
    .option(
      '--model <folder>',
      'the base model to start from; with --backend tinker, its tokenizer (weights are not read)',
    )
    .option(
      '--lora <rank>',
      "train a low-rank adapter instead of the weights; checkpoints have it in PEFT's layout in adapter/",
      wholeNumber(1),
    )
    .option(
      '--max-staleness <n>',
      'sample each batch so many steps before it is learnt from (default: 0)',
      wholeNumber(0),
    )
    .option(
      '--overlap',
      'sample while training, with weights that old at most; needs --max-staleness of 1 or more',
    )
    .option('--from-scratch', 'make the base model first, from generated text')
    .option('--backend <name>', 'where the model is trained: local, or tinker for a server (default: local)')
    .option(
      '--tinker-url <url>',
      'the server of --backend tinker (default: TINKER_BASE_URL, else http://127.0.0.1:8000); its key comes from TINKER_API_KEY',
    )
    .option('--tinker-model <name>', 'its base model, where it offers several')
    .option('--out <folder>', 'the run folder, instead of a new one under .agoge/runs')
    .option('--resume [folder]', 'go on with a run that was interrupted; the last one unless named')
    .addHelpText('after', policyHelp)
    .action(async (environment: string, options: TrainCommand & TrainArrayCommand, command: Command) => {
      const { isClassicEnvironment } = await import('./classic/classic-command.ts')
      const [named] = command.args
      const lane = {
        resume: options.resume,
        own: ['model', 'lora', 'backend', 'tinkerUrl', 'tinkerModel', 'maxStaleness', 'overlap'],
        named,
      }
      if (await isClassicEnvironment(environment, typedOptions(command), lane)) {
        const { runTrainArray } = await import('./classic/train-array.ts')
        return runTrainArray({ ...options, environment, commandLine }, terminal)
      }
      const { runTrain } = await import('./llm/train.ts')
      const beside = { typed: typedOptions(command), environment: named }
      await runTrain({ ...options, environment, commandLine, beside }, terminal)
    })

  program
    .command('pretrain')
    .description('make the base model from nothing but generated text')
    .option('--out <folder>', 'where the model goes', baseModelFolder)
    .option('--seed <n>', 'of corpus and weights', wholeNumber(0), 1)
    .option('--tokens <n>', 'of the corpus', wholeNumber(1))
    .option('--resume', 'go on where an earlier call with the same options stopped')
    .action(async (options: { out: string; seed: number; tokens?: number; resume?: boolean }) => {
      const { baseTokens, runPretrain } = await import('./llm/pretrain.ts')
      await runPretrain({ ...options, tokens: options.tokens ?? baseTokens }, terminal)
    })

  withContexts(
    withModel(
      withEnvironment(
        program
          .command('eval')
          .description('success (or mean return) of one or several models on held-out tasks, with intervals'),
      ),
    ),
  )
    .option('--set <name>', `${setHelp}; can be repeated (default: all that there are)`, several)
    .option(
      '--model <model>',
      'a run or model folder, or URL#NAME of an OpenAI-compatible endpoint; can be repeated to compare',
      several,
    )
    .option('--tasks <n>', 'held-out tasks for each model', wholeNumber(1), 400)
    .option(
      '--episodes <n>',
      'for each agent, in an environment of `agoge envs` (default: 100)',
      wholeNumber(1),
    )
    .option(
      '--seed <n>',
      'of tasks and sampling (default: 0; the tasks of the run, where a model was trained on this server)',
      wholeNumber(0),
    )
    .option('--threshold <share>', 'exit with code 2 where a model succeeds less often', share)
    .option('--json <file>', 'write the whole report there')
    .action(async (environment: string, options, command: Command) => {
      const { isClassicEnvironment } = await import('./classic/classic-command.ts')
      if (await isClassicEnvironment(environment, typedOptions(command))) {
        const { runEvalArray } = await import('./classic/eval-array.ts')
        return runEvalArray(
          { ...(options as EvalArrayCommand), seed: options.seed ?? 0, environment },
          terminal,
        )
      }
      const { runEval } = await import('./llm/eval.ts')
      done(await runEval({ ...options, environment }, terminal))
    })

  withModel(
    withEnvironment(
      program.command('chat').description('talk to the trained model while it acts on the live server'),
    ),
  )
    .option('--model <model>', 'a run or model folder, or URL#NAME of an OpenAI-compatible endpoint')
    .option('--seed <n>', 'of the states and requests on offer (default: 0)', wholeNumber(0))
    .action(async (environment: string, options) => {
      const { runChat } = await import('./llm/chat.ts')
      await runChat({ ...options, environment }, terminal)
    })

  withSamplingWeights(program.command('serve'))
    .description('an OpenAI-compatible endpoint in front of a model, until Ctrl-C')
    .argument('[model]', 'a run, checkpoint or model folder (default: the last run, else the base model)')
    .option('--port <n>', '0 takes any that is free', port, 8000)
    .option('--host <address>', 'another than this machine alone needs a key', '127.0.0.1')
    .option('--key <key>', 'what clients have to send (default: the environment variable AGOGE_SERVE_KEY)')
    .option('--name <name>', 'by which clients call the model (default: the name of the folder)')
    .option('--tinker', 'the Tinker protocol instead: clients train the model (default: the base model)')
    .option('--store <folder>', 'where --tinker keeps checkpoints (default: .agoge/tinker)')
    .option('--max-models <n>', 'that --tinker has in memory at the same time (default: 8)', wholeNumber(1))
    .action(async (model: string | undefined, options) => {
      if (options.tinker === true) {
        const { runServeTinker } = await import('./llm/serve-tinker.ts')
        return runServeTinker({ ...options, ...(model === undefined ? {} : { model }) }, terminal)
      }
      const { runServe } = await import('./llm/serve.ts')
      await runServe({ ...options, ...(model === undefined ? {} : { model }) }, terminal)
    })

  program
    .command('export')
    .description(
      'the trained model as a checkpoint or an ONNX file, or a data set from the episodes of a run',
    )
    .argument(
      '[run]',
      'a run folder; a checkpoint, or a file of episodes, will do too (default: the last run)',
    )
    .addOption(
      new Option(
        '--to <what>',
        'merged: a checkpoint; lora: what was trained with --lora, as PEFT reads it; onnx: one file; sft, dpo, grpo: data sets as TRL reads them',
      )
        .choices(exportKinds)
        .makeOptionMandatory(),
    )
    .requiredOption('--out <path>', 'a new folder (merged, lora), FILE.onnx, or FILE.jsonl or FILE.parquet')
    .addOption(
      new Option('--type <type>', 'of the weights of a merged checkpoint or an adapter').choices(weightTypes),
    )
    .option(
      '--base <name>',
      'of an adapter: the model beneath, as PEFT will find it (default: the one the run began with)',
    )
    .option('--tools <file>', 'for the column `tools`: a JSON list, as OpenAI names tools')
    .action(async (from: string | undefined, options) => {
      const { runExport } = await import('./llm/export.ts')
      await runExport({ ...options, ...(from === undefined ? {} : { from }) }, terminal)
    })

  withContexts(
    program.command('play').description('watch a trained agent, or one that acts at random, in the terminal'),
  )
    .option('--set <name>', `${setHelp} (default: train where they vary)`)
    .argument(
      '[environment]',
      'an environment of `agoge envs`, or a module that exports `environment`',
      'cartpole',
    )
    .option('--model <folder>', 'the run folder of a trained agent')
    .option('--episodes <n>', 'how many', wholeNumber(1), 1)
    .option('--seed <n>', 'of the episodes', wholeNumber(0), 0)
    .option('--fps <n>', 'frames a second, on a terminal and in recordings', wholeNumber(1), 30)
    .option(
      '--every <n>',
      'steps between frames (default: 1 on a terminal and in recordings, else 25)',
      wholeNumber(1),
    )
    .option(
      '--render <path>',
      'write frames instead: FILE.svg and FILE.png are animated, a folder gets an SVG image each',
    )
    .action(async (environment: string, options: PlayCommand) => {
      const { runPlay } = await import('./play.ts')
      await runPlay({ ...options, environment }, terminal)
    })

  program
    .command('envs')
    .description('the classic environments: spaces, context features, algorithms')
    .argument('[environment]', 'only this one, or that of a module, with the ranges of its context features')
    .option('--json', 'everything, for programs')
    .action(async (environment: string | undefined, options: { json?: boolean }) => {
      const { runEnvs } = await import('./classic/envs.ts')
      await runEnvs({ ...options, ...(environment === undefined ? {} : { environment }) }, terminal)
    })

  // Loaded when asked for: experiments are no part of the library.
  const openPapers = async (given: Console) => (await import('./papers.ts')).openPapers(given)
  const papers = program.command('papers').description('experiments that put published claims to the test')
  papers
    .command('list')
    .description('what there is, and what came of it')
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) => {
      const { listPapers, tools } = await openPapers(terminal)
      await listPapers(options, tools)
    })
  papers
    .command('run <id>')
    .description('run every arm with every seed, give the verdict, keep the result')
    .option('--quick', 'one seed and a small budget: shows only that it runs')
    .option('--workers <n>', 'processes at once (default: the number of cores)', wholeNumber(1))
    .action(async (id: string, options: { quick?: boolean; workers?: number }) => {
      const { runPaperCommand, tools } = await openPapers(terminal)
      await runPaperCommand({ ...options, id, commandLine }, tools)
    })
  papers
    .command('report')
    .description('a page with the scores and verdicts of all that were run')
    .option('--out <file>', 'where the page goes')
    .action(async (options: { out?: string }) => {
      const { reportPapers, tools } = await openPapers(terminal)
      reportPapers(options, tools)
    })

  program
    .command('convert <run>')
    .description('rewrite a run of version 0.1 in the names of this version, so that it can be resumed')
    .action(async (run: string) => {
      const { convertRun } = await import('../runs/convert.ts')
      const files = convertRun(run)
      terminal.out(files.length === 0 ? `${run} needs no conversion` : `${run}: ${files.join(', ')}`)
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
