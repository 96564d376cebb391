import { resolve } from 'node:path'
import { checkTaskIds, type FileTask, readTask, readTaskFile } from '../environment/mcp/goals/task-file.ts'
import { encodeEpisode } from '../episode/codec.ts'
import { inParallel } from '../in-parallel.ts'
import { redactorOf, secretsOfEnvironment } from '../tool/redact.ts'
import { BudgetReached, createBudget, type Spending } from './budget.ts'
import { type AgogeConfig, checkConfig, scorersOf, type ToolRules } from './config.ts'
import { createTrialEndpoints } from './endpoint.ts'
import { openEnvironment, type OpenedEnvironment } from './environment.ts'
import { type EvaluationResult, type SequentialComparison, summarise } from './evaluation.ts'
import { identityOf, type Store, withStore } from './evaluation-store.ts'
import type { TrialRecord } from './journal.ts'
import type { CallLimits } from './metered-model.ts'
import { openModels, type OpenedModel } from './models.ts'
import { runTrial, type TrialSpec } from './run-trial.ts'
import { followAll, type Sequential, shuffledTasks } from './sequential.ts'
import { createTools, describeTools } from './tools.ts'

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
export interface RunningEvaluation extends AsyncIterable<EvaluationEvent> {
  readonly result: Promise<EvaluationResult>
}

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
export function evaluate<Output, Tools extends ToolRules>(
  config: AgogeConfig<Output, Tools>,
  options: EvaluateOptions = {},
): RunningEvaluation {
  const events: EvaluationEvent[] = []
  let waiting: (() => void)[] = []
  let isOver = false
  const wake = (): void => {
    const woken = waiting
    waiting = []
    for (const one of woken) one()
  }
  const result = work(config as unknown as AgogeConfig, options, (event) => {
    events.push(event)
    wake()
  }).finally(() => {
    isOver = true
    wake()
  })
  // A caller may read the events only.
  result.catch(() => {})
  return {
    result,
    async *[Symbol.asyncIterator]() {
      for (let at = 0; ; at += 1) {
        while (at >= events.length) {
          if (isOver) {
            await result
            return
          }
          await new Promise<void>((ready) => waiting.push(ready))
        }
        yield events[at]
      }
    },
  }
}

async function work(
  config: AgogeConfig,
  options: EvaluateOptions,
  emit: (event: EvaluationEvent) => void,
): Promise<EvaluationResult> {
  checkConfig(config)
  const { folder = '.', baseline } = options
  const root = resolve(folder)
  const given = await readTasks(config, root)
  const models = await openModels(config, root)
  let environment: OpenedEnvironment | undefined
  try {
    return await withStore(options, identityOf(config, given, models), async (store) => {
      const { trials = 1, tools = {} } = config
      environment = config.environment && (await openEnvironment(config.environment, root, options.signal))
      if (environment !== undefined) await options.onPlan?.(environment.plan, environment.needsConsent)
      const refused = (await environment?.prepare(given)) ?? []
      if (refused.length > 0) emit({ type: 'refused', tasks: refused })
      const usable = given.filter(({ id }) => !refused.some((one) => one.id === id))
      const tasks = options.untilCertain === true ? shuffledTasks(usable) : usable
      const names = models.map(({ name }) => name)
      const specs = plan(tasks, models, trials, options.untilCertain)
      const sequential = options.untilCertain === true ? followAll(tasks, names, trials, baseline) : undefined
      const records = new Map(specs.flatMap(({ id }) => entryOf(id, store.journal.trials.get(id))))
      emit({
        type: 'plan',
        models: names,
        tasks: tasks.length,
        trials,
        tools: describeTools(tools),
        finished: records.size,
      })
      const spent = await runTrials(specs, config, {
        ...options,
        ...store,
        records,
        emit,
        environment,
        sequential,
      })
      const result = summarise([...records.values()], {
        models: models.map(({ name, price }) => ({ name, hasPrice: price !== undefined })),
        tasks: tasks.length,
        trials,
        spent,
        baseline,
        sequential: sequential?.comparisons(),
      })
      store.finish(result)
      emit({ type: 'result', result })
      return result
    })
  } finally {
    await environment?.close()
    for (const { dispose } of models) await dispose()
  }
}

const entryOf = (id: string, record: TrialRecord | undefined): [string, TrialRecord][] =>
  record === undefined ? [] : [[id, record]]

/**
 * All trials. Those of one task stand together, so that what was done when the budget ends can be compared; with `byTask` also the repeated
 * ones, otherwise each task has its first trial before any has its second.
 */
function plan(
  tasks: readonly FileTask[],
  models: readonly OpenedModel[],
  trials: number,
  byTask = false,
): TrialSpec[] {
  const numbers = Array.from({ length: trials }, (_, trial) => trial)
  const of = (task: FileTask, trial: number): TrialSpec[] =>
    models.map((model) => ({ id: `${model.name}/${task.id}/${trial}`, task, model, trial }))
  return byTask
    ? tasks.flatMap((task) => numbers.flatMap((trial) => of(task, trial)))
    : numbers.flatMap((trial) => tasks.flatMap((task) => of(task, trial)))
}

interface Running extends Store, Pick<EvaluateOptions, 'signal'> {
  records: Map<string, TrialRecord>
  environment: OpenedEnvironment | undefined
  sequential: Sequential | undefined
  emit: (event: EvaluationEvent) => void
}

/** Runs the trials that have no record yet. Returns what all calls have cost. */
async function runTrials(
  specs: readonly TrialSpec[],
  config: AgogeConfig,
  running: Running,
): Promise<Spending> {
  const { journal, records, emit, keepEpisode, environment, sequential, signal } = running
  const budget = createBudget(config.budget)
  budget.restore(journal.spent)
  const stop = new AbortController()
  const redactor = redactorOf(secretsOfEnvironment())
  const endpoints = createTrialEndpoints()
  const settings = {
    agent: config.agent,
    scorers: scorersOf(config),
    tools: createTools(config.tools ?? {}),
    environment,
    endpoints,
    journal,
    budget,
    limits: limitsOf(config),
    trialSeconds: config.trialSeconds ?? 600,
    signal: signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]),
    redact: (text: string) => redactor.text(text),
  }
  const open = specs.filter(({ id }) => !records.has(id))
  for (const record of records.values()) sequential?.add(record)
  try {
    await inParallel(open, config.concurrency ?? 8, async (spec) => {
      if (budget.isReached() || sequential?.isCertain() === true) return
      try {
        const { record, episode } = await runTrial(spec, settings)
        keepEpisode(encodeEpisode(episode))
        journal.write({ type: 'trial', trial: spec.id, record })
        records.set(spec.id, record)
        sequential?.add(record)
        emit({ type: 'trial', record, done: records.size, total: specs.length, spent: budget.spent() })
      } catch (error) {
        // What the others have under way is paid for: it ends by itself, or by the budget too.
        if (error instanceof BudgetReached) return
        stop.abort(error)
        throw error
      }
    })
  } finally {
    stop.abort(new Error('the evaluation is over'))
    await endpoints.close()
  }
  if (budget.isReached()) emit({ type: 'budget-reached', spent: budget.spent() })
  if (sequential?.isCertain() === true) emit({ type: 'certain', comparisons: sequential.comparisons() })
  return budget.spent()
}

/** The limits of calls in a config. */
export const limitsOf = (config: AgogeConfig): CallLimits => ({
  maxOutputTokens: config.maxOutputTokens ?? 4096,
  retries: config.retries ?? 4,
  callSeconds: config.callSeconds ?? 120,
  backoffSeconds: config.backoffSeconds ?? 0.5,
})

/** The tasks of a config. */
export async function readTasks({ tasks }: AgogeConfig, root: string): Promise<readonly FileTask[]> {
  if (typeof tasks === 'string') return readTaskFile(resolve(root, tasks), { needsExpected: false })
  const given = typeof tasks === 'function' ? await tasks() : tasks
  const read = given.map((task, at) =>
    readTask(task, `task ${at + 1} of the config`, { needsExpected: false }),
  )
  checkTaskIds(read, 'the config')
  return read
}
