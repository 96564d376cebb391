import { resolve } from 'node:path'
import { AgogeError } from '../../error.ts'
import { machine } from '../../runs/run-folder.ts'
import { intervalText, meanInterval } from '../../statistics/intervals.ts'
import { mean } from '../../statistics/statistics.ts'
import type { OpenedVector, VectorState } from '../environment/index.ts'
import { checkActions, checkStep } from './check-step.ts'
import type { EvaluationContexts } from './context-settings.ts'
import { cutOffNote, evaluateAgent } from './evaluate-agent.ts'
import { reportStep, yieldToEventLoop } from './learn-until.ts'
import { createMetrics, type MetricsState } from './metrics.ts'
import { openTraining } from './open-training.ts'
import { renderArrayReport } from './report.ts'
import { metricsFile, openRunRecord, restoreAgent, type RunRecord } from './run-record.ts'
import type {
  ClassicResult,
  ClassicSummary,
  ClassicTrainOptions,
  Evaluation,
  EvaluationSettings,
  SetEvaluation,
} from './types.ts'

/** Lines of `metrics.jsonl` in a run, at most about, and the fewest steps of one. */
const lines = 200
const fewest = 256

/** An episode of so many steps in an environment without a limit is worth a warning. */
const endless = 100_000

/** What depends on clocks, and so is no part of a checkpoint. */
interface Times {
  seconds: number
  evaluationSeconds: number
}

interface SavedRun {
  agent: unknown
  /** None of objects that cannot be saved. */
  environment: VectorState | undefined
  measured: MetricsState
  step: number
  evaluations: Evaluation[]
  sets: SetEvaluation[]
  /** Environment steps at the last line of metrics. */
  written: number
}

type EvaluationOn = readonly [set: string, contextFor: EvaluationContexts | undefined]

/**
 * Trains an agent on an environment: act, step, learn, blind to the algorithm. The greedy policy is evaluated now and then on
 * an environment of its own. With `out` there is a run folder (config.json, metrics.jsonl, checkpoints, summary.json,
 * report.html), and a run that was killed goes on from its last checkpoint bit for bit.
 *
 * Instead of an environment it takes an object of one's own with `reset` and `step`, or a function that makes such objects; calls
 * that give promises are waited for. Such a run can be resumed where objects have `state` and `restore`.
 *
 * @throws AgogeError for numbers that are none (naming environment, step, slot and field), or a folder that does not fit.
 * @example
 * const { slots, ...config } = ppoPresets['sb3-zoo-cartpole']
 * const { summary, agent } = await trainClassic({ environment: cartPole, algorithm: ppo(config), slots, steps: 100_000 })
 */
export async function trainClassic(options: ClassicTrainOptions): Promise<ClassicResult> {
  const { environment, ...checked } = await openTraining(options)
  try {
    return await trainIn(environment, { ...options, ...checked })
  } finally {
    await environment.close()
  }
}

type Checked = Pick<Required<ClassicTrainOptions>, 'numEnvs' | 'seed'> & {
  evaluate: Required<EvaluationSettings>
}

async function trainIn(
  environment: OpenedVector,
  options: ClassicTrainOptions & Checked,
): Promise<ClassicResult> {
  const { numEnvs, seed, steps, evaluate, settings = {}, out, command = 'trainClassic()' } = options
  const identity = {
    kind: 'array',
    environment: environment.definition.name,
    seed,
    numEnvs,
    steps,
    evaluate,
    settings,
  }
  if (out === undefined) return trainOn(environment, { ...options, command }, null)
  const record = openRunRecord(resolve(out), identity, { resume: options.resume === true, command })
  try {
    const result = await trainOn(environment, { ...options, command }, record)
    finish(record, result.summary, identity)
    return result
  } finally {
    record.release()
  }
}

async function trainOn(
  environment: OpenedVector,
  options: ClassicTrainOptions & Checked & { command: string },
  record: RunRecord | null,
): Promise<ClassicResult> {
  const { algorithm, numEnvs, seed, evaluate, settings = {}, threads, signal, command } = options
  const { definition } = environment
  const emit = options.onEvent ?? (() => {})
  const total = Math.ceil(options.steps / numEnvs) * numEnvs
  const resume = options.resume === true
  const sets: EvaluationOn[] = Object.entries(options.evaluationSets ?? {})
  const [first = ['default', undefined] as const, ...others] = sets
  await environment.reset()
  checkStep(environment, 0)
  const agent = await algorithm(environment, {
    seed,
    totalSteps: total,
    ...(threads === undefined ? {} : { threads }),
  })
  const measured = createMetrics()
  const now: Omit<SavedRun, 'agent' | 'environment' | 'measured'> & Times = {
    step: 0,
    seconds: 0,
    evaluationSeconds: 0,
    evaluations: [],
    sets: [],
    written: 0,
  }
  const logEvery = Math.max(numEnvs, fewest, Math.ceil(total / lines))
  const checkpointEvery = options.checkpointEvery ?? Math.ceil(total / 20)
  let started = performance.now()
  let warned = definition.maxSteps !== undefined
  let leftOut = false

  function clock(): number {
    const seconds = (performance.now() - started) / 1000
    started = performance.now()
    return seconds
  }

  function line(phase: string, seconds: number, metrics: Record<string, number>): void {
    record?.folder.append(metricsFile, [JSON.stringify({ phase, step: now.step, seconds, metrics })])
  }

  function log(): void {
    const seconds = clock()
    now.seconds += seconds
    const taken = now.step - now.written
    now.written = now.step
    const metrics = { ...measured.take(), stepsPerSecond: taken / seconds }
    line('train', seconds, metrics)
    emit({ type: 'step', phase: 'train', step: now.step, total, seconds, metrics })
  }

  /** The greedy policy on one set of contexts. */
  async function play([set, contextFor]: EvaluationOn, episodes: number): Promise<Omit<Evaluation, 'step'>> {
    now.seconds += clock()
    const played = await evaluateAgent(agent, options.definition, {
      episodes,
      seed,
      ...(signal === undefined ? {} : { signal }),
      ...(contextFor === undefined ? {} : { contextFor }),
    })
    const { returns, lengths } = played
    const found = { return: meanInterval(Array.from(returns)), length: mean(lengths) }
    const seconds = clock()
    now.evaluationSeconds += seconds
    const { mean: value, low, high } = found.return
    line(set === first[0] ? 'evaluation' : `evaluation-${set}`, seconds, {
      return: value,
      ...(low === null ? {} : { low, high }),
      length: found.length,
    })
    const where = others.length === 0 ? '' : ` on ${set} contexts`
    emit({
      type: 'note',
      text: `greedy after ${now.step} steps${where}: return ${show(value)} (${intervalText(found.return, show)}), ${episodes} episodes`,
    })
    const warning = cutOffNote(definition, played)
    if (warning !== undefined) emit({ type: 'note', text: warning })
    return found
  }

  /** Whether an evaluation belongs here, between two steps, and is not there yet. */
  function isDue(): boolean {
    const { every } = evaluate
    return (
      every > 0 &&
      now.step > 0 &&
      now.step < total &&
      Math.floor(now.step / every) > Math.floor((now.step - numEnvs) / every) &&
      now.evaluations.at(-1)?.step !== now.step
    )
  }

  /** One that is interrupted has not been: a resumed run evaluates again. */
  async function measure(on: readonly EvaluationOn[], episodes: number): Promise<void> {
    const found: SetEvaluation[] = []
    for (const each of on) found.push({ set: each[0], ...(await play(each, episodes)) })
    const [{ set: _, ...onFirst }] = found
    now.evaluations.push({ step: now.step, ...onFirst })
    if (found.length > 1) now.sets = found
  }

  function save(): void {
    if (record === null) return
    now.seconds += clock()
    const { seconds, evaluationSeconds, ...steady } = now
    const times: Times = { seconds, evaluationSeconds }
    const state: SavedRun = {
      ...steady,
      agent: agent.state(),
      environment: stateOf(environment),
      measured: measured.state(),
    }
    record.save(state, times)
  }

  function warnEndless(): void {
    for (let i = 0; i < numEnvs; i++) {
      if (environment.lengths[i] < endless) continue
      warned = true
      emit({
        type: 'note',
        text: `warning: an episode of ${definition.name} has gone on for ${endless} steps (slot ${i}, step ${now.step}); the environment has no maxSteps and may never end`,
      })
      return
    }
  }

  /** Optimisers leave such a gradient out, so that nothing else would show that nothing is learnt. */
  function warnNotFinite(learned: Readonly<Record<string, number>>): void {
    const [wrong] = Object.entries(learned).filter(([, value]) => !Number.isFinite(value))
    if (leftOut || wrong === undefined) return
    leftOut = true
    emit({
      type: 'note',
      text: `warning: after ${now.step} steps ${wrong[0]} is ${wrong[1]}; a gradient that is not finite is left out and teaches nothing`,
    })
  }

  try {
    if (resume && record !== null) {
      const loaded = record.load()
      if (loaded === null)
        emit({ type: 'note', text: `${record.folder.path} has no checkpoint yet: the run begins anew` })
      else {
        const saved = loaded.state as SavedRun
        const { agent: _, environment: envsThen, measured: then, ...rest } = saved
        const where = { path: record.folder.path, environment: definition.name }
        restoreAgent(agent, saved, where)
        if (envsThen !== undefined) environment.restore(envsThen)
        else if (rest.step < total) throw notResumable(definition.name, rest.step)
        measured.restore(then)
        Object.assign(now, rest, loaded.times)
      }
    }
    if (record !== null && stateOf(environment) === undefined) {
      emit({
        type: 'note',
        text: `warning: ${definition.name} has no state() and restore(), so that this run cannot be resumed`,
      })
    }
    emit({ type: 'phase', name: 'train', total })
    started = performance.now()
    if (isDue()) await measure([first], evaluate.during)
    while (now.step < total) {
      const acting = agent.act()
      if (acting instanceof Promise) await acting
      checkActions(environment, now.step + numEnvs)
      const stepping = environment.step()
      if (stepping instanceof Promise) await stepping
      const before = now.step
      now.step += numEnvs
      checkStep(environment, now.step)
      measured.stepped(environment)
      const learning = agent.learn()
      const learned = learning instanceof Promise ? await learning : learning
      if (learned !== undefined) {
        measured.updated(learned)
        warnNotFinite(learned)
      }
      const passed = (every: number): boolean =>
        every > 0 && Math.floor(now.step / every) > Math.floor(before / every)
      if (passed(logEvery)) {
        log()
        if (!warned) warnEndless()
        // So that signals are heard, also where the algorithm never waits.
        await yieldToEventLoop()
      }
      if (isDue()) await measure([first], evaluate.during)
      signal?.throwIfAborted()
      if (now.step < total && passed(checkpointEvery)) save()
    }
    if (now.evaluations.at(-1)?.step !== total) {
      if (now.written < now.step) log()
      await measure([first, ...others], evaluate.episodes)
      save()
    }
    const result: ClassicSummary = {
      schema: 1,
      kind: 'array',
      command,
      machine: machine(),
      environment: definition.name,
      settings,
      seed,
      numEnvs,
      steps: total,
      episodes: measured.episodes,
      seconds: now.seconds,
      evaluationSeconds: now.evaluationSeconds,
      evaluations: now.evaluations,
      return: now.evaluations[now.evaluations.length - 1].return,
      ...(now.sets.length === 0 ? {} : { sets: now.sets }),
    }
    return { summary: result, agent }
  } catch (error) {
    // Stopped between two steps, or within an evaluation.
    if (signal?.aborted === true && error === signal.reason) save()
    await agent.dispose()
    throw reportStep(error, definition.name, now.step)
  }
}

/** Undefined of objects that cannot be saved. */
function stateOf(environment: OpenedVector): VectorState | undefined {
  try {
    return environment.state()
  } catch (error) {
    if (AgogeError.isInstance(error) && error.code === 'not-resumable') return undefined
    throw error
  }
}

const notResumable = (name: string, step: number): AgogeError =>
  new AgogeError(`${name} cannot be saved, so that the run cannot go on after ${step} steps`, {
    code: 'not-resumable',
    given: 'environments without state() and restore()',
    expected: 'both, with everything that the rest of an episode depends on',
  })

function finish({ folder }: RunRecord, summary: ClassicSummary, config: Record<string, unknown>): void {
  folder.write('summary.json', `${JSON.stringify(summary, null, 2)}\n`)
  const metrics = folder.lines(metricsFile).map((text) => JSON.parse(text) as never)
  folder.write('report.html', renderArrayReport({ summary, metrics, config }))
}

function show(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(1) : value.toFixed(2)
}
