import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import type { FileTask } from '../environment/mcp/goals/task-file.ts'
import type { Spending } from '../project/budget.ts'
import type { AgogeConfig, ToolRules } from '../project/config.ts'
import type { OptimiseSettings } from '../project/optimise-settings.ts'
import { refuseGroups } from '../project/judging/score-trials.ts'
import type { EvaluationResult } from '../project/evaluation.ts'
import { identityOf, withStore } from '../project/evaluation-store.ts'
import { withProject } from '../project/open-project.ts'
import { type Running, startRunning } from '../project/running.ts'
import { splitTasks, type TaskSplit } from '../project/training/split-tasks.ts'
import type { AgentSetup } from '../setup/setup.ts'
import type { Candidate, Lever } from './lever.ts'
import { levers as allLevers } from './levers/index.ts'
import { trainableIn } from './model-training.ts'
import { openProposer } from './open-proposer.ts'
import { searchAndTest } from './search-and-test.ts'

/** Where and how `optimise` works. */
export interface OptimiseOptions extends OptimiseSettings {
  /** Where paths and packages of the config are looked up. Default: the current folder. */
  folder?: string
  /** Folder for the journal, the episodes and the result. Default: nothing is stored, and nothing can be continued. */
  out?: string
  /** Continues what a stopped search left in `out`. Default: false. */
  resume?: boolean
  /** Only makes the plan: nothing is called. Default: false. */
  dryRun?: boolean
  /** Called with what may be called on the server of the config, before the first call. If it rejects, none is made. Default: nothing. */
  onPlan?: (plan: string, needsConsent: boolean) => Promise<void>
  signal?: AbortSignal
}

/** What may happen, before anything does. */
export interface OptimisePlan {
  /** Tasks from which levers learn, by which setups are chosen, and on which the result is measured once. */
  train: number
  selection: number
  test: number
  trials: number
  /** The most that is spent. */
  budget: { tokens?: number; dollars?: number }
  /** Trials that are made in any case: of the original, and of both at the end. */
  leastTrials: number
  levers: { name: string; source: string }[]
  model: string
  /** What `sft` and `rl` would train, or why they cannot; absent without these levers. */
  training?: string
}

/** What became of a lever. */
export interface LeverOutcome {
  name: string
  source: string
  /** Setups that it proposed. */
  tried: number
  /** Mean gain of its best on the selection tasks. */
  gain: number
  spent: number
  /** Why it was not used, or why it ended. */
  note?: string
}

/** The result of a search. */
export interface OptimiseResult {
  schema: 1
  /** Whether the 95% interval of the gain on the test tasks is above zero. Only then is there a gain to report. */
  isShown: boolean
  /** The best setup by the selection tasks, which the test tasks were tried with. Null: no setup gained on the selection tasks. */
  best: { setup: AgentSetup; lever: string; about: string; gain: number } | null
  /** The original and the best setup on the test tasks, which nothing else saw. Null if they were not tried. */
  test: EvaluationResult | null
  /** Success of the original on the selection tasks. */
  before: number
  levers: LeverOutcome[]
  /** All setups that were tried, with the reason why one was dropped. */
  candidates: Candidate[]
  stopped: string
  spent: Spending
  /** Of what levers spent: dollars if the budget is in dollars. */
  unit: 'tokens' | 'dollars'
  tasks: { train: number; selection: number; test: number }
}

/** What happens in a search. */
export type OptimiseEvent =
  | { type: 'plan'; plan: OptimisePlan }
  | { type: 'refused'; tasks: readonly { id: string; reason: string }[] }
  | { type: 'phase'; phase: 'original' | 'search' | 'test'; about: string }
  | { type: 'trial'; done: number; total: number; spent: Spending }
  | { type: 'lever'; outcome: LeverOutcome }
  | { type: 'candidate'; candidate: Candidate }
  | { type: 'budget-reached'; spent: Spending }
  | { type: 'result'; result: OptimiseResult }

/** A running search: its events, and its result; null after a dry run. */
export type RunningOptimisation = Running<OptimiseEvent, OptimiseResult | null>

/**
 * Searches for changes of an agent's calls with which it succeeds more often: instructions, rules, demonstrations, tool descriptions, the model, and
 * methods of test time; or trains a local model. The agent stays as it is.
 *
 * Levers learn from the training tasks; setups are chosen by tasks of their own (split `validation`); the original and the best setup are then
 * tried once on the test tasks. A gain is reported only if its 95% interval there is above zero. The budget of the config is never exceeded. With
 * `out`, a search that was killed continues without repeating a completed call.
 *
 * @throws AgogeError (by `result` and by the iterator) `bad-config` without a budget, or with one that does not suffice for the trials of the original
 *   and the test; `bad-tasks` if a split has no task; otherwise as `evaluate`.
 * @example
 * const result = await optimise(config, { proposer: 'openai/gpt-5', out: 'search' }).result
 * if (result?.isShown) writeFileSync('agoge.setup.json', JSON.stringify(result.best?.setup))
 */
export function optimise<Output, Tools extends ToolRules>(
  config: AgogeConfig<Output, Tools>,
  options: OptimiseOptions = {},
): RunningOptimisation {
  return startRunning((emit) => work(config as unknown as AgogeConfig, options, emit))
}

type Emit = (event: OptimiseEvent) => void

async function work(config: AgogeConfig, given: OptimiseOptions, emit: Emit): Promise<OptimiseResult | null> {
  const options = { ...config.optimise, ...given }
  return withProject(
    config,
    { ...options, opensModels: options.dryRun !== true, opensSetup: false },
    async (project) => {
      const chosen = chooseLevers(options.levers)
      checkBudget(config)
      const { tasks, models, judges, root } = project
      const split = splitTasks(tasks)
      emit({ type: 'plan', plan: planOf(config, split, chosen) })
      if (options.dryRun === true) return null
      const proposer = await openProposer(options.proposer, config, root)
      const { picker = 'adaptive', seed = 0, learningRate } = options
      const identity = {
        ...identityOf(config, tasks, models, judges.judges),
        optimise: { levers: chosen.map(({ name }) => name), picker, seed, ...defined({ learningRate }) },
      }
      try {
        return await withStore(options, identity, async (store) => {
          const refused = await project.prove()
          if (refused.length > 0) emit({ type: 'refused', tasks: refused })
          const settings = await project.settings(store.journal)
          refuseGroups(settings.scorers, 'a search')
          const usable = withoutTasks(split, refused)
          const searching = {
            config,
            options,
            emit,
            store,
            models,
            settings,
            split: usable,
            levers: chosen,
            proposer,
          }
          const result = await searchAndTest(searching)
          store.writeResult('optimisation.json', result)
          if (result.best !== null) store.writeResult('setup.json', result.best.setup)
          emit({ type: 'result', result })
          return result
        })
      } finally {
        await proposer?.dispose()
      }
    },
  )
}

function chooseLevers(names: readonly string[] | undefined): readonly Lever[] {
  if (names === undefined) return allLevers
  const unknown = names.find((name) => !allLevers.some((lever) => lever.name === name))
  if (unknown === undefined) return allLevers.filter(({ name }) => names.includes(name))
  throw new AgogeError(`there is no lever "${unknown}"`, {
    code: 'bad-config',
    given: unknown,
    expected: allLevers.map(({ name }) => name).join(', '),
  })
}

function checkBudget({ budget }: AgogeConfig): void {
  if (budget?.dollars !== undefined || budget?.tokens !== undefined) return
  throw new AgogeError('a search needs a limit of what it may spend', {
    code: 'bad-config',
    given: 'no budget',
    expected: 'budget: { dollars: 5 } with the prices of the models, or budget: { tokens: 2_000_000 }',
    hint: 'agoge optimise --budget 5, or --tokens 2000000',
  })
}

function planOf(
  config: AgogeConfig,
  { train, validation, test }: TaskSplit,
  levers: readonly Lever[],
): OptimisePlan {
  const { trials = 1, budget = {}, models } = config
  const [first] = models
  const trainable = trainableIn(config, 'a folder')
  const trained = levers.filter(({ name }) => name === 'sft' || name === 'rl').map(({ name }) => name)
  const name = typeof first === 'string' ? first : 'folder' in first ? first.folder : first.modelId
  return {
    train: train.length,
    selection: validation.length,
    test: test.length,
    trials,
    budget,
    leastTrials: train.length + (validation.length + 2 * test.length) * trials,
    levers: levers.map(({ name: lever, source }) => ({ name: lever, source })),
    model: name,
    ...(trained.length > 0 && {
      training:
        'reason' in trainable
          ? `${trained.join(' and ')} will not be used: ${trainable.reason}`
          : `${trained.join(' and ')} may train ${trainable.model}: each training takes at most half of the tokens that are left, set aside before it starts, and none if they do not suffice`,
    }),
  }
}

function withoutTasks(split: TaskSplit, refused: readonly { id: string }[]): TaskSplit {
  const usable = (tasks: readonly FileTask[]): FileTask[] =>
    tasks.filter(({ id }) => !refused.some((one) => one.id === id))
  const { train, validation, test, isMarked } = split
  return { train: usable(train), validation: usable(validation), test: usable(test), isMarked }
}
