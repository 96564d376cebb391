import { AgogeError } from '../../error.ts'
import { createHash } from 'node:crypto'
import { defined } from '../../defined.ts'
import { openDefinition, toolEnvironments } from '../../llm/environment/catalogue.ts'
import type { OpenedEnvironment } from '../../llm/environment/catalogue.ts'
import { readToolEnvironment, unknownEnvironment } from '../shared/environment-names.ts'
import type { Task, TaskSource, ToolEnvironment } from '../../llm/agent/types.ts'
import { visibleBlock, visibleLine } from '../../untrusted/visible-text.ts'
import { heldOutTasks } from '../../llm/rollout/collect.ts'
import { smallModelPlan } from '../../llm/training/defaults.ts'
import type { Reward } from '../../llm/reward/reward.ts'
import type { TrainingPlan } from '../../llm/training/types.ts'
import { confirmPlan } from '../../llm/environment/mcp/plan.ts'
import { describeProfile } from '../../llm/environment/mcp/profile/describe-profile.ts'
import { readTaskFile } from '../../llm/environment/mcp/goals/task-file.ts'
import { fingerprintTasks, type McpTask } from '../../llm/environment/mcp/mcp-task.ts'
import { openMcpEnvironment } from '../../llm/environment/mcp/open-mcp-environment.ts'
import type { GeneratedTasks, TaskCounts } from '../../llm/environment/mcp/task-generation.ts'
import type { Console } from '../shared/console.ts'
import type { CallBudget } from './train-text.ts'

/**
 * The environment options of the command line. `config.json` stores them, so that `--resume` opens the same
 * environment.
 */
export interface EnvironmentOptions {
  environment: string
  /** Absolute path of the module that defines it. Default: none, for a built-in environment or a server. */
  environmentFile?: string
  mcpConfig?: string
  sandbox?: boolean | 'remote'
  allow?: string[]
  maxCalls?: number
  callsPerSecond?: number
  /** Absolute path of a JSONL file with the tasks of a server. Default: they are generated. */
  taskFile?: string
  /** Only for `reasoning`: kinds of questions, and levels. */
  task?: string[]
  difficulty?: number[]
}

/** Selects the environment options among a command's options. */
export function environmentOptions(options: EnvironmentOptions): EnvironmentOptions {
  const {
    environment,
    environmentFile,
    mcpConfig,
    sandbox,
    allow,
    maxCalls,
    callsPerSecond,
    taskFile,
    task,
    difficulty,
  } = options
  const given = Object.entries({
    environmentFile,
    mcpConfig,
    sandbox,
    allow,
    maxCalls,
    callsPerSecond,
    taskFile,
    task,
    difficulty,
  })
  return { environment, ...Object.fromEntries(given.filter(([, value]) => value !== undefined)) }
}

/** An environment with its tasks and its training defaults. */
export interface OpenedNamed {
  environment: ToolEnvironment
  tasks: TaskSource
  plan: TrainingPlan
  /** Default: success minus a small cost for each call. */
  reward?: Reward
  /** Returns `count` distinct tasks. */
  heldOut: (split: Task['split'], count: number) => Task[]
  /**
   * For an MCP server: its calls and the hash of the accepted plan. For a server or a module: what identifies its
   * tasks.
   */
  calls?: CallBudget
  agreement?: string
  taskFingerprint?: string
}

/**
 * Number of tasks for training on an MCP server. The environment makes 2,000 at most where a service
 * keeps the state, and 800 where making a task takes the start of a process, a reset command, or calls at a limited rate.
 */
export const trainingCounts: Required<TaskCounts> = {
  train: 6000,
  // One task more or less must not decide which weights are kept. The first half is for the warm start, the other for RL.
  validation: 512,
  test: 400,
  'unseen-paraphrase': 96,
}

/** The number of tasks of runs that did not record it. */
export const earlierCounts: Required<TaskCounts> = { ...trainingCounts, train: 800, validation: 96 }

/** Number of tasks for a short training (`--quick`) on an MCP server, with this number of test tasks. */
export const quickCounts = (test: number): Required<TaskCounts> => ({
  train: 160,
  validation: 24,
  test: Math.min(test, trainingCounts.test),
  'unseen-paraphrase': 0,
})

export interface OpeningOptions {
  seed: number
  /** Accepts the plan of calls without asking. */
  yes?: boolean
  wanted?: TaskCounts
  /**
   * For a resumed run: the hash of the plan that the user accepted. The same plan for the same server is not asked
   * about again.
   */
  agreed?: string | undefined
}

/**
 * Opens an environment of `toolEnvironments`, `mcp:NAME`, or a module that exports one made by `defineToolEnvironment`.
 * For an MCP server it first shows the plan of calls, and asks for consent if tools may run that do more than read. The
 * caller closes `environment`.
 *
 * @throws AgogeError for an unknown environment, an unusable server, or a refused plan.
 */
export async function openEnvironment(
  options: EnvironmentOptions,
  opening: OpeningOptions,
  terminal: Console,
): Promise<OpenedNamed> {
  const { environment: name, environmentFile, task, difficulty, taskFile } = options
  if (taskFile !== undefined && !name.startsWith('mcp:'))
    throw new AgogeError('a file of tasks is for an MCP server', {
      code: 'bad-option',
      given: `--tasks ${taskFile} for ${name}`,
      expected: 'mcp:NAME',
    })
  const definition = await readToolEnvironment(environmentFile ?? name)
  if (definition !== undefined) {
    const fingerprint = fingerprintSource(definition.tasks)
    return openedAs(await openDefinition(definition), fingerprint)
  }
  if (Object.hasOwn(toolEnvironments, name)) {
    const { signal, err } = terminal
    return openedAs(await toolEnvironments[name].open({ signal, onNotice: err, task, difficulty }))
  }
  if (name.startsWith('mcp:')) return openServer(name.slice(4), options, opening, terminal)
  throw unknownEnvironment(options)
}

/** The training plan with the environment's own settings. */
function openedAs(
  { environment, tasks, demonstrations, limits, reward, training }: OpenedEnvironment,
  taskFingerprint?: string,
): OpenedNamed {
  const usual = smallModelPlan
  return {
    environment,
    tasks,
    plan: {
      ...usual,
      demonstrations,
      ...(training && {
        warmStart: { ...usual.warmStart, ...training.warmStart },
        reinforcement: { ...usual.reinforcement, ...training.reinforcement },
        maxTokensPerTurn: training.maxTokensPerTurn ?? usual.maxTokensPerTurn,
        tasks: { ...usual.tasks, ...defined({ validation: training.validation }) },
      }),
      limits: { ...usual.limits, ...limits },
    },
    ...(reward && { reward }),
    heldOut: (split, count) => heldOutTasks(tasks, split, count),
    ...defined({ taskFingerprint }),
  }
}

/** Identifies the tasks of a module, which may be edited between two commands. */
function fingerprintSource(tasks: TaskSource): string {
  const some = tasks.kinds.flatMap((kind) =>
    (['train', 'validation', 'test'] as const).flatMap((split) =>
      [0, 1, 2].map((seed) => tasks.task({ split, seed, kind })),
    ),
  )
  const texts = some.map(({ id, prompt, difficulty, context }) => [id, prompt, difficulty, context])
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 16)
}

async function openServer(
  name: string,
  options: EnvironmentOptions,
  { seed, yes = false, wanted = trainingCounts, agreed }: OpeningOptions,
  { err, signal }: Console,
): Promise<OpenedNamed> {
  const { mcpConfig: file, sandbox, allow, maxCalls, callsPerSecond, taskFile } = options
  const own = taskFile === undefined ? undefined : readTaskFile(taskFile)
  const slow = setTimeout(
    () =>
      err(`waiting for the MCP server "${name}" to start (npx and the like may have to download it first)`),
    3000,
  )
  const environment = await openMcpEnvironment(name, {
    signal,
    ...defined({ file, sandbox, allow, maxCalls, callsPerSecond }),
  }).finally(() => clearTimeout(slow))
  try {
    const same = agreed !== undefined && environment.isAgreed(agreed)
    if (agreed !== undefined && !same)
      err('The server, how it is started or the plan of its calls is another than when this run began.')
    if (environment.needsConsent && !yes && !same) await confirmPlan(environment.plan, { signal })
    else err(environment.plan)
    const { tasks, leftOut, hint } = await environment.prepareTasks({
      seed,
      counts: wanted,
      signal,
      onProfile: (profile) => err(describeProfile(profile)),
      ...defined({ own }),
    })
    for (const { name: tool, reason } of leftOut)
      err(`left out: ${visibleLine(tool, 128)} (${visibleBlock(reason, '    ')})`)
    if (hint !== undefined) err(visibleBlock(hint, ''))
    for (const { id, reason } of tasks.refused)
      err(`task not used: ${visibleLine(id, 128)} (${visibleBlock(reason, '    ')})`)
    for (const { split, kinds: without } of tasks.missing)
      err(
        `no ${split} tasks of ${without.join(', ')}: every request that was found is taken by another split`,
      )
    const { limit } = environment
    const all = splits.flatMap((split) => tasks.all(split))
    return {
      environment,
      tasks,
      plan: {
        ...smallModelPlan,
        demonstrations: demonstrationsOf(tasks),
        ...serverTrainingOf(all),
      },
      heldOut: (split, count) => heldOutTasks(tasks, split, count),
      calls: {
        left: limit.maxCalls - limit.used().total,
        callsPerSecond: limit.callsPerSecond,
        perTask: all.reduce((sum, task) => sum + callsOf(task), 0) / all.length,
      },
      agreement: environment.agreement(),
      taskFingerprint: fingerprintTasks(all),
    }
  } catch (error) {
    await environment.close()
    throw error
  }
}

const splits = ['train', 'validation', 'test', 'unseen-paraphrase'] as const

/**
 * How training on a server differs from that on the filesystem, tried on `memory` with seed 0 (with 120
 * steps of RL). With 60 steps, runs took 2 to 10 minutes on two cores; with 100 none was timed yet. With thousands of demonstrations
 * the last steps of a warm start, at the lowest learning rates, gain much: a few validations without a higher score must not
 * end it. After that the policy is certain of most tokens, so that RL needs more heat and larger batches for a signal, and
 * smaller steps to keep what was learnt.
 */
const serverTraining: Pick<TrainingPlan, 'warmStart' | 'reinforcement'> = {
  warmStart: { ...smallModelPlan.warmStart, validateEvery: 40, patience: 8 },
  reinforcement: {
    ...smallModelPlan.reinforcement,
    learningRate: 1e-4,
    temperature: 1.2,
    groups: 24,
    minibatches: 1,
    steps: 100,
    // Where the warm start left little to learn, RL can only lose.
    validateEvery: 20,
    keep: 'best',
  },
}

/** Tokens of a turn with which RL makes all steps of `serverTraining`. Longer turns take longer steps, so there are fewer. */
const tokensOfUsualTurn = 108

function serverTrainingOf(tasks: readonly McpTask[]): Partial<TrainingPlan> {
  const { warmStart, reinforcement } = serverTraining
  const lengths = lengthsOf(tasks)
  const share = Math.min(1, tokensOfUsualTurn / lengths.maxTokensPerTurn)
  const steps = Math.round(reinforcement.steps * share)
  const counts = { ...smallModelPlan.tasks, validation: trainingCounts.validation / 2 }
  return { warmStart, reinforcement: { ...reinforcement, steps }, tasks: counts, ...lengths }
}

/** Calls of a plan up to which the usual limits of an episode suffice. */
const usualCalls = 4

/** Tokens of the small model for each byte of a call, at most as measured on names and JSON: 0.6. */
const tokensOfByte = 2 / 3
const mostTurnTokens = 192

/**
 * Episodes may be longer where a task takes more calls, and turns where a call is longer, as far as the longest reference
 * call needs it.
 */
export function lengthsOf(
  tasks: readonly Pick<McpTask, 'context' | 'reference'>[],
): Pick<TrainingPlan, 'limits' | 'maxTokensPerTurn'> {
  const { limits, maxTokensPerTurn } = smallModelPlan
  const most = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), 0)
  const calls = most(tasks.map(callsOf))
  const bytes = most(
    tasks.flatMap(({ reference = [] }) => reference.map((call) => Buffer.byteLength(JSON.stringify(call)))),
  )
  const tokens = Math.ceil(bytes * tokensOfByte)
  if (calls <= usualCalls && tokens <= maxTokensPerTurn) return { limits, maxTokensPerTurn }
  const tokensPerTurn = Math.min(mostTurnTokens, Math.max(maxTokensPerTurn, tokens))
  const turns = Math.max(limits.turns, calls + 2)
  return { limits: { ...limits, turns, tokensPerTurn, totalTokens: 1000 }, maxTokensPerTurn: tokensPerTurn }
}

/** Most demonstrations of a kind, and in all. */
const mostOfKind = 240
const mostDemonstrations = 3300

/**
 * Four fifths of the training tasks of each kind are demonstrated, as far as these limits allow, and 30 at least, some of
 * them again. The others are for RL.
 */
function demonstrationsOf(tasks: Pick<GeneratedTasks, 'kinds' | 'all'>): Record<string, number> {
  const train = tasks.all('train')
  const most = Math.min(mostOfKind, Math.ceil(mostDemonstrations / tasks.kinds.length))
  return Object.fromEntries(
    tasks.kinds.map((name) => {
      const made = train.filter(({ kind }) => kind === name).length
      return [name, Math.min(most, Math.max(30, Math.ceil(0.8 * made)))]
    }),
  )
}

function callsOf(task: Pick<Task, 'context'>): number {
  const { tools } = task.context
  return Array.isArray(tools) ? tools.length : 1
}
