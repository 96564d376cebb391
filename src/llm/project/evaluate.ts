import { defined } from '../../defined.ts'
import type { FileTask } from '../environment/mcp/goals/task-file.ts'
import type { AgentSetup } from '../setup/setup.ts'
import { setupOf } from './setup-models.ts'
import type { Spending } from './budget.ts'
import { type AgogeConfig, isGroupScorer, scorersOf, type ToolRules } from './config.ts'
import {
  type EvaluationResult,
  type JudgeReport,
  type SequentialComparison,
  summarise,
} from './evaluation.ts'
import { identityOf, resultFile, withStore } from './evaluation-store.ts'
import type { Journal, TrialRecord } from './journal.ts'
import { readChecks } from './judging/check-judges.ts'
import type { OpenedJudges } from './judging/judges.ts'
import type { OpenedModel } from './models.ts'
import { withProject } from './open-project.ts'
import type { TrialSpec } from './run-trial.ts'
import { type Running, startRunning } from './running.ts'
import { runTrials } from './run-trials.ts'
import { followAll, shuffledTasks } from './sequential.ts'
import { describeTools } from './tools.ts'
import { splitTasks } from './training/split-tasks.ts'
import type { ToolSet } from './tools-environment.ts'

/** Settings of `evaluate`. */
export interface EvaluateOptions {
  /** Where paths and packages of the config are looked up. Default: the current folder. */
  folder?: string
  /** Folder for the journal, the episodes and the result. Default: nothing is stored, and nothing can be continued. */
  out?: string
  /** Continues what a stopped evaluation left in `out`. Default: false. */
  resume?: boolean
  /** The result of an earlier evaluation, to be compared with. */
  baseline?: Pick<EvaluationResult, 'models' | 'records'>
  /**
   * Folder where evaluations share the answers of judges (`judgements.jsonl`), so that the same output is not judged twice, and where
   * `agoge judge check` keeps how judges agree with labels. Default: nothing is shared.
   */
  shared?: string
  /**
   * Which tasks: those for the test, as `splitTasks` divides them, or all. Default: `test` if tasks say which split they belong to, otherwise `all`.
   */
  split?: 'test' | 'all' | undefined
  /**
   * Takes the tasks in an order drawn by chance, and stops as soon as every comparison, of models and with the baseline, is clear of zero by
   * an interval that holds at any stop. Default: false.
   */
  untilCertain?: boolean
  /** Called with what may be called on the server of the config, before the first call. If it rejects, none is made. Default: nothing. */
  onPlan?: (plan: string, needsConsent: boolean) => Promise<void>
  signal?: AbortSignal
}

/** What happens in an evaluation. */
export type EvaluationEvent =
  | { type: 'plan'; models: string[]; tasks: number; trials: number; tools: string[]; finished: number }
  | { type: 'refused'; tasks: readonly { id: string; reason: string }[] }
  | { type: 'trial'; record: TrialRecord; done: number; total: number; spent: Spending }
  | { type: 'budget-reached'; spent: Spending }
  | { type: 'certain'; comparisons: SequentialComparison[] }
  | { type: 'result'; result: EvaluationResult }

/** A running evaluation: its events, and its result. */
export type RunningEvaluation = Running<EvaluationEvent, EvaluationResult>

/**
 * Evaluates the agent of a config with each of its models on each of its tasks. It starts at once; the events need not be read.
 *
 * Trials in which a model, a tool or a scorer failed are masked: they count nowhere, and are reported. The budget is never exceeded,
 * since each call reserves the most that it can cost. With `out`, an evaluation that was killed continues without repeating a
 * completed call, provided the agent asks the same again.
 *
 * @throws AgogeError (by `result` and by the iterator) for a config, tasks or models that cannot be used, and for mistakes that would spoil every trial.
 * @example
 * for await (const event of evaluate(config)) if (event.type === 'result') console.log(event.result.models)
 */
export function evaluate<Output, Tools extends ToolRules, Own extends ToolSet>(
  config: AgogeConfig<Output, Tools, Own>,
  options: EvaluateOptions = {},
): RunningEvaluation {
  return startRunning((emit) => work(config as unknown as AgogeConfig, options, emit))
}

async function work(
  config: AgogeConfig,
  options: EvaluateOptions,
  emit: (event: EvaluationEvent) => void,
): Promise<EvaluationResult> {
  const { baseline, untilCertain = false, shared } = options
  return withProject(config, options, async (project) => {
    const { judges, root } = project
    const models = withSetups(project.models, setupOf(config, root))
    return withStore(
      options,
      identityOf(config, testTasks(project.tasks, options.split), models, judges.judges),
      async (store) => {
        const { trials = 1, tools = {} } = config
        const refused = await project.prove()
        if (refused.length > 0) emit({ type: 'refused', tasks: refused })
        const usable = testTasks(project.tasks, options.split).filter(
          ({ id }) => !refused.some((one) => one.id === id),
        )
        const tasks = untilCertain ? shuffledTasks(usable) : usable
        const names = models.map(({ name }) => name)
        // What is scored task by task is also run so: a budget that ends leaves whole tasks.
        const byTask = untilCertain || Object.values(scorersOf(config)).some(isGroupScorer)
        const specs = planTrials(tasks, models, trials, byTask)
        const sequential = untilCertain ? followAll(tasks, names, trials, baseline) : undefined
        const records = finishedTrials(specs, store.journal)
        emit({
          type: 'plan',
          models: names,
          tasks: tasks.length,
          trials,
          tools: describeTools(tools),
          finished: records.size,
        })
        const spent = await runTrials(specs, {
          settings: await project.settings(store.journal, { names, shared }),
          concurrency: config.concurrency,
          keepEpisode: store.keepEpisode,
          records,
          emit,
          sequential,
        })
        const result = summarise([...records.values()], {
          models: models.map(({ name, price }) => ({ name, hasPrice: price !== undefined })),
          tasks: tasks.length,
          trials,
          spent,
          baseline,
          sequential: sequential?.comparisons(),
          judges: reportsOf(judges, store.journal, shared),
        })
        store.writeResult(resultFile, result)
        emit({ type: 'result', result })
        return result
      },
    )
  })
}

/** Training and the choice of a setup have seen the others. */
function testTasks(tasks: readonly FileTask[], split: EvaluateOptions['split']): readonly FileTask[] {
  const isMarked = tasks.some((task) => task.split !== undefined)
  if (split === 'all' || (split === undefined && !isMarked)) return tasks
  if (!isMarked) return splitTasks(tasks).test
  return tasks.filter(({ split: own = 'test' }) => own === 'test')
}

/** A column of an evaluation: a model, with a setup or as the agent calls it. */
export type EvaluatedModel = OpenedModel & { setup?: AgentSetup }

/** Each model as it is, then each with the setup. A setup that chooses the model itself is one column. */
function withSetups(
  models: readonly OpenedModel[],
  setup: AgentSetup | undefined,
): readonly EvaluatedModel[] {
  if (setup === undefined) return models
  const isChoosing = setup.model !== undefined || setup.routing !== undefined
  const changed = isChoosing ? models.slice(0, 1) : models
  return [
    ...models,
    ...changed.map((model) => ({ ...model, name: isChoosing ? 'setup' : `${model.name} + setup`, setup })),
  ]
}

/** The trials that a journal has already. */
export const finishedTrials = (specs: readonly TrialSpec[], { trials }: Journal): Map<string, TrialRecord> =>
  new Map(specs.flatMap(({ id }) => entryOf(id, trials.get(id))))

function reportsOf(opened: OpenedJudges, journal: Journal, shared: string | undefined): JudgeReport[] {
  const checks = readChecks(shared)
  return opened.usage(journal).map((judge) => {
    const { kappa, labels } = checks.get(judge.id) ?? {}
    return { ...judge, agreement: kappa === undefined || labels === undefined ? null : { kappa, labels } }
  })
}

const entryOf = (id: string, record: TrialRecord | undefined): [string, TrialRecord][] =>
  record === undefined ? [] : [[id, record]]

/**
 * All trials. Those of one task stand together, so that what was done when the budget ends can be compared; with `byTask` also the repeated
 * ones, otherwise each task has its first trial before any has its second.
 */
export function planTrials(
  tasks: readonly FileTask[],
  models: readonly EvaluatedModel[],
  trials: number,
  byTask = false,
): TrialSpec[] {
  const numbers = Array.from({ length: trials }, (_, trial) => trial)
  const of = (task: FileTask, trial: number): TrialSpec[] =>
    models.map((model) => ({
      id: `${model.name}/${task.id}/${trial}`,
      task,
      model,
      trial,
      ...defined({ setup: model.setup }),
    }))
  return byTask
    ? tasks.flatMap((task) => numbers.flatMap((trial) => of(task, trial)))
    : numbers.flatMap((trial) => tasks.flatMap((task) => of(task, trial)))
}
