import { Option } from 'commander'
import { defined } from '../../defined.ts'
import { policyPresets } from '../../llm/algorithm/policy-optimisation/presets.ts'
import { trainingMethods } from '../../llm/training/method-list.ts'
import { baseModelFolder } from '../../llm/checkpoint/checkpoint.ts'
import type { Command } from 'commander'
import type { CommandContext } from '../shared/console.ts'
import {
  offlineMethods,
  type EnvironmentKind,
  optionOf,
  optionOfBoth,
  positive,
  readTasksOption,
  refuseForeignOptions,
  tasksOrFile,
  typedOptions,
  wholeNumber,
  withContexts,
  withSamplingWeights,
  withEnvironment,
} from '../shared/options.ts'
import { listed, showHelpFor } from '../shared/help.ts'
import type { TrainArrayCommand } from '../classic/train-array.ts'
import type { TrainCommand } from '../llm/train.ts'
import type { TrainAgentCommand } from '../llm/train-agent.ts'
import { configOf } from './evaluate.ts'
import type { TrainOfflineCommand } from '../llm/train-offline.ts'
import type { PretrainCommand } from '../llm/pretrain.ts'
import { modelSizes } from '../../llm/pretraining/sizes.ts'

type PretrainOptions = Omit<PretrainCommand, 'tokens' | 'readsTools'> & { tokens?: number; tools?: boolean }

// Options and help of agoge train, train-offline and pretrain.

const everyScope = ['classic', 'language', 'agent'] as const

/** Options of `agoge train` for an agent of the user's own. */
function agentOptions(): Option[] {
  const options = [
    new Option('-c, --config <file>', 'your own agent (default: agoge.config.ts, if it is here)'),
    new Option('--demonstrations <from>', 'SFT first: on tasks (their references), or a folder of episodes'),
    new Option('--groups <n>', 'tasks of a step (default: 8)').argParser(wholeNumber(1)),
    new Option('--group-size <n>', 'episodes of a task in a step (default: 8)').argParser(wholeNumber(2)),
    new Option('--learning-rate <rate>', 'of reinforcement learning (default: 3e-4)').argParser(positive),
    new Option('--trials <n>', 'of each test task, before and after').argParser(wholeNumber(1)),
  ]
  return options.map((option) => optionOf('agent', option))
}

/** Algorithms of language-model agents, one per line. */
const policyHelp = (kind: EnvironmentKind): string =>
  kind === 'agent'
    ? [
        '\nAlgorithms:',
        ...listed(Object.entries(policyPresets).map(([name, { about }]) => [name, about])),
      ].join('\n')
    : kind === 'classic'
      ? '\nAlgorithms and context features of an environment: agoge envs ENVIRONMENT\nOther options are for language models: agoge train filesystem --help'
      : [
          '\nAlgorithms:',
          ...listed(Object.entries(policyPresets).map(([name, { about }]) => [name, about])),
          '\nPreferences, imitation, distillation and critics, also by --algorithm:',
          ...listed(Object.entries(trainingMethods).map(([name, { about }]) => [name, about])),
          '\nOptions of classic RL: agoge train cartpole --help',
          'Options for your own agent: agoge train -c agoge.config.ts --help',
        ].join('\n')

export function addTrain({ program, terminal, commandLine }: CommandContext): void {
  const train = withContexts(
    withSamplingWeights(
      withEnvironment(
        program
          .command('train')
          .summary('train, report the gain')
          .description(
            'Train on an environment, and report how much better it got. Without an environment, and with an agoge.config.ts here: the model of your own agent.',
          ),
      ),
    ),
  )
  for (const option of [
    optionOf('classic', new Option('--visible', 'append the varying context features to the observation')),
    optionOfBoth(
      new Option('--seed <n>', 'of tasks, sampling and training').argParser(wholeNumber(0)).default(0),
      'of environments and training',
      everyScope,
    ),
    optionOfBoth(
      new Option('--steps <n>', 'of reinforcement learning').argParser(wholeNumber(1)),
      'of the environment',
      everyScope,
    ),
    optionOfBoth(
      new Option('--algorithm <name>', 'see below (default: grpo-damped)'),
      'see agoge envs ENVIRONMENT (default: the first there)',
      everyScope,
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
    optionOf(
      'classic',
      new Option(
        '--batched',
        'with --seeds: several seeds at the same time, with their gradients in one call: faster for small networks (ppo, a2c, pqn)',
      ),
    ),
    optionOf('classic', new Option('--num-envs <n>', 'environments of the vector').argParser(wholeNumber(1))),
    optionOf(
      'language',
      new Option(
        '--tasks <n>',
        'held-out tasks of each evaluation; or a FILE.jsonl of tasks for a server (agoge tasks)',
      ).argParser(tasksOrFile),
    ),
    optionOf(
      'language',
      new Option(
        '--compare-supervised',
        'also train by supervision alone, for the same time at most: until validation no longer rises',
      ),
    ),
    optionOf(
      'language',
      new Option('--quick', 'about a minute: 320 demonstrations, 8 steps, 60 held-out tasks'),
    ),
    optionOf(
      ['language', 'agent'],
      new Option(
        '--time-limit <minutes>',
        'the whole run may take: reinforcement learning then makes fewer steps (default: none)',
      ).argParser(positive),
    ),
    optionOf(
      ['language', 'agent'],
      new Option(
        '--model <model>',
        'base model (with --backend tinker, only its tokenizer); for your own agent also a run, or OWNER/NAME of the hub',
      ),
    ),
    optionOf(
      ['language', 'agent'],
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
    optionOf(
      ['language', 'agent'],
      new Option('--backend <name>', 'local, tinker or tinker:URL (default: local)'),
    ),
    optionOf(
      ['language', 'agent'],
      new Option(
        '--tinker-url <url>',
        'server of --backend tinker (default: TINKER_BASE_URL, else http://127.0.0.1:8000); key in TINKER_API_KEY',
      ),
    ),
    optionOf(
      ['language', 'agent'],
      new Option('--tinker-model <name>', 'base model of the server, if it has several'),
    ),
    optionOf(everyScope, new Option('--out <folder>', 'run folder (default: a new one under .agoge/runs)')),
    optionOf(everyScope, new Option('--resume [folder]', 'resume a run (default: the last one)')),
    ...agentOptions(),
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
      agent: [
        'agoge train --time-limit 10',
        'agoge train -c agoge.config.ts --lora 16 --demonstrations .agoge/evaluations/RUN',
      ],
      all: ['agoge train --quick', 'agoge train --algorithm distillation --teacher RUN'],
    },
    policyHelp,
  )
  train.action(
    async (
      environment: string,
      options: TrainCommand & TrainArrayCommand & TrainAgentCommand,
      command: Command,
    ) => {
      const [named] = command.args
      const { agentRun } = await import('../shared/runs.ts')
      const earlier = agentRun(options.resume)
      const config = options.resume === undefined ? await configOf(options, command) : options.config
      if (earlier !== undefined || config !== undefined) {
        refuseForeignOptions(command, config ?? earlier ?? '', 'agent')
        const { runTrainAgent } = await import('../llm/train-agent.ts')
        const beside = { typed: typedOptions(command), environment: named }
        return runTrainAgent({ ...options, ...defined({ config, earlier }), commandLine, beside }, terminal)
      }
      const { isClassicEnvironment } = await import('../shared/environment-names.ts')
      if (await isClassicEnvironment(environment, command, options.resume)) {
        const { runTrainArray } = await import('../classic/train-array.ts')
        return runTrainArray({ ...options, environment, commandLine }, terminal)
      }
      const { runTrain } = await import('../llm/train.ts')
      const beside = { typed: typedOptions(command), environment: named }
      const { tasks, ...others } = options
      await runTrain({ ...others, ...readTasksOption(tasks), environment, commandLine, beside }, terminal)
    },
  )
}

export function addTrainOffline({ program, terminal, commandLine }: CommandContext): void {
  const offline = program
    .command('train-offline')
    .summary('train on preferences')
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
      const { runTrainOffline } = await import('../llm/train-offline.ts')
      const named = episodes === undefined ? {} : { episodes }
      await runTrainOffline({ ...options, ...named, commandLine }, terminal)
    },
  )
}

export function addPretrain({ program, terminal }: CommandContext): void {
  const pretrain = program
    .command('pretrain')
    .summary('make the base model')
    .description('Make the base model from nothing but generated text.')
    .option('--out <folder>', 'where the model goes', baseModelFolder)
    .option('--seed <n>', 'of corpus and weights', wholeNumber(0), 1)
    .option('--tokens <n>', 'of the corpus', wholeNumber(1))
    .addOption(new Option('--size <size>', 'parameters of the model (default: 0.9M)').choices(modelSizes))
    .option('--context <n>', 'tokens of the context window (default: 1024)', wholeNumber(256))
    .option('--tools', 'let the model learn to read tool definitions in its prompts')
    .option('--minutes <n>', 'stop at a checkpoint after so long, to be resumed', positive)
    .option('--resume', 'resume an earlier call with the same options')
  showHelpFor(pretrain, {
    all: ['agoge pretrain --out models/mine --tokens 2000000', 'agoge pretrain --out models/mine --resume'],
  })
  pretrain.action(async ({ tools, ...options }: PretrainOptions) => {
    const { baseTokens, runPretrain } = await import('../llm/pretrain.ts')
    const tokens = options.tokens ?? baseTokens
    await runPretrain({ ...options, tokens, ...(tools === true ? { readsTools: true } : {}) }, terminal)
  })
}
