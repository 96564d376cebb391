import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { readMetrics } from '../../runs/metrics.ts'
import { type OnTrainingEvent, openRunFolder } from '../../runs/run-folder.ts'
import type { Task, TaskSource, ToolEnvironment } from '../agent/types.ts'
import type { AlgorithmDefinition } from '../algorithm/define-algorithm.ts'
import type { PolicyPresetName } from '../algorithm/policy-optimisation/presets.ts'
import type { Algorithm, BatchSettings, EpisodeGroup } from '../algorithm/types.ts'
import { loadLocalBackend } from '../backend/local-backend.ts'
import type { Episode } from '../episode/types.ts'
import type { ModelBackend } from '../model-backend.ts'
import type { Reward } from '../reward/reward.ts'
import { judgedReward } from '../reward/rewards.ts'
import { type AgentRolloutOptions, type AgentTask, rolloutAgent } from '../rollout/agents/rollout-agent.ts'
import { smallModelPlan } from './defaults.ts'
import type { OptimiserSettings } from './kernel.ts'
import { trainJob } from './loop.ts'
import type { RunOptions } from './run.ts'
import { algorithmOf } from './train.ts'
import { baseOf } from '../backend/base-model.ts'
import type {
  ProgramRollout,
  StageSummary,
  TrainableBackend,
  TrainingPlan,
  TrainJobOptions,
} from './types.ts'

export interface TrainAgentOptions<T extends AgentTask, R>
  extends
    Omit<AgentRolloutOptions<T, R>, 'tasks' | 'name' | 'backend' | 'signal'>,
    OptimiserSettings,
    BatchSettings,
    RunOptions {
  backend: ModelBackend
  /** The tasks of a step, counted from 0. The same step must return the same tasks. */
  tasks: (step: number) => readonly T[]
  /** Episodes per task. Advantages compare them with each other. Default: 8. */
  groupSize?: number
  steps: number
  /** Default: the score of the program's judge. */
  reward?: Reward
  /**
   * The name of a preset in `policyPresets` (with its batch settings), your own definition (`defineAlgorithm`), or any function.
   * Default: `grpo-damped`.
   */
  algorithm?: PolicyPresetName | AlgorithmDefinition | Algorithm
  /** Tasks outside training, played greedily before the first step and after the last. Default: none. */
  testTasks?: readonly T[]
  /**
   * Further tasks outside training, played after every `every` steps. Training ends with the weights of the highest success.
   * Default: the last weights.
   */
  validation?: { tasks: readonly T[]; every: number }
  /**
   * Demonstrations (your own episodes or those of `demonstrateAgent`) for algorithms that mix some in, by `demonstrations` of
   * the batch settings.
   */
  demonstrationEpisodes?: readonly Episode[]
  /**
   * Opens the reference model for algorithms with a KL penalty; its weights are loaded afterwards. Default: a copy of a local
   * `backend`.
   */
  reference?: () => Promise<TrainableBackend>
  /** Groups per step whose episodes are stored in the run folder. Default: 2. */
  recordGroups?: number
  /** Seconds until the run should be over: it makes fewer steps if those of the plan would take longer. Default: no limit. */
  secondsLeft?: () => number
  /** Further fields of `config.json`, which a resumed run must share. Must not contain secrets. */
  config?: Readonly<Record<string, unknown>>
  onStep?: (step: PlayedStep) => void
}

/** Statistics of one step. */
export interface AgentStep {
  /** Starts at 0. */
  step: number
  /** Means over the judged episodes. */
  reward: number
  success: number
  masked: number
  /** Metrics of the batch, the algorithm and its loss. */
  metrics: Record<string, number>
}

/** A step with its episodes, for progress displays. They are not stored in memory. */
export interface PlayedStep extends AgentStep {
  groups: readonly EpisodeGroup[]
}

export interface TrainedAgent {
  steps: AgentStep[]
  /** Results on `testTasks`; undefined without any. */
  before: StageSummary | undefined
  after: StageSummary | undefined
}

/**
 * Reinforcement learning for your own agent. Each step plays its tasks in groups, scores the episodes and updates the model that
 * the agent calls. Supports every preset and batch setting of `train`, without a warm start. With `testTasks`, evaluates before
 * and after. With `out`, writes a run folder with metrics, checkpoints, summary and report, which `resume` continues. The same
 * seed gives the same weights if the agent is deterministic. For other agents, episodes since the last checkpoint are stored and
 * not played again.
 *
 * @returns the curve, one entry per step, and the evaluations. The backend ends with the trained weights.
 * @throws AgogeError `environment-broken` if no episode of a step could be judged, naming the first reason.
 * @example
 * const { steps, before, after } = await trainAgent({ ...model, program, tasks: (step) => tasksOf(step), testTasks, steps: 50,
 *   learningRate: 3e-4, algorithm: 'dapo', seed: 1, out: 'runs/clerk' })
 */
export async function trainAgent<T extends AgentTask, R>(
  options: TrainAgentOptions<T, R>,
): Promise<TrainedAgent> {
  const { out, signal, onEvent, onStep } = options
  if (out === undefined && options.resume === true)
    throw new AgogeError('There is nothing to resume', {
      code: 'no-run',
      given: 'resume without a run folder',
      expected: '`out`: the folder of an earlier run',
    })
  const path = out ?? mkdtempSync(join(tmpdir(), 'agoge-agent-'))
  const steps: AgentStep[] = []
  try {
    const job = jobOf(options, path, (step, groups, metrics) => {
      const done = stepOf(step, metrics)
      steps.push(done)
      onStep?.({ ...done, groups })
    })
    const abort = signal === undefined ? {} : { signal }
    const watch: OnTrainingEvent | undefined = onEvent
    const { stages } = await trainJob(job, { ...abort, ...defined({ onEvent: watch }) })
    // A finished run is not trained further.
    if (steps.length === 0 && options.steps > 0)
      await options.backend.load(join(path, 'checkpoints', 'final'))
    const stage = (name: StageSummary['name']) => stages.find((each) => each.name === name)
    return {
      steps: [...earlier(path, steps[0]?.step ?? options.steps), ...steps],
      before: stage('base'),
      after: stage('rl'),
    }
  } finally {
    if (out === undefined) rmSync(path, { recursive: true, force: true })
  }
}

/** Steps of an earlier process. */
function earlier(path: string, before: number): AgentStep[] {
  return readMetrics(openRunFolder({ path }), () => {}).flatMap(({ phase, step, metrics }) =>
    phase === 'rl' && step <= before ? [stepOf(step - 1, metrics)] : [],
  )
}

function stepOf(step: number, metrics: Record<string, number>): AgentStep {
  const { reward, success, masked } = metrics
  return { step, reward, success, masked, metrics }
}

/** A user's task in the form that the job needs. */
interface ProgramTask<T> extends Task {
  own: T
}

function jobOf<T extends AgentTask, R>(
  options: TrainAgentOptions<T, R>,
  path: string,
  onGroups: NonNullable<ProgramRollout<ProgramTask<T>>['onGroups']>,
): TrainJobOptions<ProgramTask<T>> {
  const {
    program,
    backend,
    tokenizer,
    seed,
    window,
    out,
    resume = false,
    testTasks = [],
    validation,
  } = options
  const folder = out !== undefined && resume ? openRunFolder({ path }) : null
  const { algorithm, batch, named } = algorithmOf(options.algorithm, folder)
  const heldOut = { train: [], test: testTasks, validation: validation?.tasks ?? [], 'unseen-paraphrase': [] }
  const source: TaskSource<ProgramTask<T>> = {
    kinds: ['agent'],
    // For a batch sampled before an interruption. Only its episodes are read.
    task: ({ split, seed: own, kind }) => wrap({ id: '', kind: kind ?? 'agent', seed: own } as T, split),
    heldOut: (split, count) => heldOut[split].slice(0, count).map((task) => wrap(task, split)),
  }
  return {
    command: options.command ?? 'trainAgent()',
    folder: { path },
    seed,
    environment: programEnvironment(program.name, out !== undefined),
    tasks: source,
    // Its owner disposes of it.
    backend: () =>
      Promise.resolve(Object.create(backend, { dispose: { value: undefined } }) as TrainableBackend),
    tokenizer,
    reward: options.reward ?? judgedReward(),
    algorithm,
    ...(typeof options.algorithm === 'function' ? {} : { algorithmName: named.algorithm ?? 'grpo-damped' }),
    plan: planOf(options, batch),
    resume,
    config: { ...baseOf(openRunFolder({ path }), [backend]), ...named, window, ...options.config },
    ...defined({ secondsLeft: options.secondsLeft }),
    program: {
      draw(step) {
        const all = (at: number): ProgramTask<T>[] => options.tasks(at).map((task) => wrap(task, 'train'))
        let ahead = step
        const waiting: ProgramTask<T>[] = []
        return {
          first: all(step),
          // Tasks of later steps. Those steps draw them again.
          more(count) {
            while (waiting.length < count) waiting.push(...all(++ahead))
            return waiting.splice(0, count)
          },
        }
      },
      async play({ backend, name, tasks, groupSize, temperature, signal }) {
        const abort = signal === undefined ? {} : { signal }
        // The job scores the episodes.
        const { signal: _, reward: __, ...rest } = options
        const own = tasks.map((task) => task.own)
        const key = name.replace(/^rl\//, 'step/')
        return rolloutAgent({ ...rest, ...abort, backend, tasks: own, groupSize, name: key, temperature })
      },
      demonstrations: options.demonstrationEpisodes ?? [],
      reference: (folder) => openReference(options, folder),
      onGroups,
    },
  }
}

function planOf<T extends AgentTask, R>(
  options: TrainAgentOptions<T, R>,
  preset: BatchSettings | undefined,
): TrainingPlan {
  const { steps, groupSize = 8, temperature = 1, window, validation, checkpointEvery = 10, out } = options
  const optimiser = settingsIn(options, [
    'learningRate',
    'warmup',
    'final',
    'optimizer',
    'weightDecay',
    'beta1',
    'beta2',
    'clip',
  ])
  const own = settingsIn(options, [
    'minibatches',
    'epochs',
    'resampling',
    'greedyBaseline',
    'demonstrations',
    'maxStaleness',
    'overlap',
  ])
  return {
    ...smallModelPlan,
    demonstrations: {},
    reinforcement: {
      learningRate: options.learningRate,
      ...optimiser,
      ...preset,
      ...own,
      steps,
      groups: options.tasks(0).length,
      groupSize,
      temperature,
      validateEvery: validation?.every ?? 0,
      keep: validation === undefined ? 'last' : 'best',
      recordGroups: out === undefined ? 0 : (options.recordGroups ?? 2),
    },
    tasks: {
      validation: validation?.tasks.length ?? 0,
      test: options.testTasks?.length ?? 0,
      unseenParaphrases: 0,
    },
    checkpointEvery: out === undefined ? steps : checkpointEvery,
    maxTokensPerTurn: window,
    limits: {
      turns: 1,
      totalTokens: window,
      deadlineSeconds: options.deadlineSeconds ?? 600,
      toolDeadlineSeconds: 600,
    },
  }
}

function settingsIn<O extends object, K extends keyof O>(
  options: O,
  names: readonly K[],
): Partial<Pick<O, K>> {
  const given = names.filter((name) => options[name] !== undefined)
  return Object.fromEntries(given.map((name) => [name, options[name]])) as Partial<Pick<O, K>>
}

function wrap<T extends AgentTask>(task: T, split: Task['split']): ProgramTask<T> {
  const { id, kind = 'agent', seed = 0 } = task
  return {
    id,
    kind,
    seed,
    split,
    prompt: '',
    difficulty: 1,
    context: {},
    plan: () => ({ answer: '' }),
    own: task,
  }
}

/** The environment of a job whose episodes a program plays. Its calls may get other answers the next time. */
function programEnvironment(name: string, journaled: boolean): ToolEnvironment<never> {
  return {
    name,
    tools: [],
    deterministic: !journaled,
    open: () => Promise.reject(new Error(`${name} is played by its own program`)),
    close: () => Promise.resolve(),
  }
}

/** The initial model of RL, loaded from this folder. */
async function openReference(
  { backend, reference }: { backend: ModelBackend; reference?: () => Promise<TrainableBackend> },
  folder: string,
): Promise<TrainableBackend> {
  if (reference === undefined && 'parameters' in backend) return loadLocalBackend(folder)
  if (reference === undefined) throw noReference()
  const frozen = await reference()
  await frozen.load(folder)
  return frozen
}

function noReference(): AgogeError {
  return new AgogeError('This algorithm needs a frozen reference policy, which cannot be opened here', {
    code: 'no-reference',
    expected: 'an algorithm without a KL penalty, or `reference`',
    hint: 'reference: () => the same model a second time',
  })
}
