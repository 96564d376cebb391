import { resolve } from 'node:path'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { yieldToEventLoop } from '../../event-loop.ts'
import { writeChecked } from '../../runs/checksums.ts'
import { readMetrics } from '../../runs/metrics.ts'
import { machine, type OnTrainingEvent } from '../../runs/run-folder.ts'
import { openRunFolder, type RunFolder } from '../../runs/run-folder.ts'
import { claimRun } from '../../runs/run-store.ts'
import type { OpenedVector } from '../environment/index.ts'
import type { UpdateMetrics } from '../algorithm/agent.ts'
import { checkActions, checkStep } from './check-step.ts'
import { reportStep } from './learn-until.ts'
import {
  openTraining,
  passed,
  type OpenedTraining,
  clock,
  createRun,
  logMetrics,
  resumeRun,
  type Run,
  saveRunStep,
  stateOf,
} from './run.ts'
import { renderArrayReport } from './report.ts'
import { isDue, measure, setsOf, validate } from './evaluate-run.ts'
import type { ClassicResult, ClassicSummary, ClassicTrainOptions } from './types.ts'

/** An episode of this many steps, in an environment without a limit, is worth a warning. */
const endless = 100_000

/** Training stops after this many successive updates with a metric that is not finite. */
const mostNotFinite = 10

/**
 * Trains an agent on an environment. Returns the agent and a summary. At intervals, the greedy policy is evaluated
 * in its own environment. `out` writes a run folder: `config.json`, `metrics.jsonl`, checkpoints (the last, and
 * that of the best evaluation), `summary.json`, `report.html`. A run that is killed and resumed gives the same
 * bits as an uninterrupted run.
 *
 * Instead of an environment it takes your own object with `reset` and `step`, or a function that makes such
 * objects. Their methods may be asynchronous. Such a run can be resumed if the objects have `state` and `restore`.
 *
 * @throws AgogeError `not-finite` for numbers of the environment (naming environment, step, index and field),
 * `non-finite-loss` after ten successive updates without a finite loss or gradient, and the errors of `claimRun`
 * for a folder that does not fit.
 * @throws the reason of `signal`, once it is aborted, after saving the run.
 * @example
 * const { numEnvs, ...config } = ppoPresets['sb3-zoo-cartpole']
 * const { summary, agent } = await trainClassic({ definition: cartPole, algorithm: ppo(config), numEnvs, steps: 100_000 })
 */
export async function trainClassic(options: ClassicTrainOptions): Promise<ClassicResult> {
  const { environment, ...opened } = await openTraining(options)
  try {
    return await trainIn(environment, { command: 'trainClassic()', ...options, ...opened })
  } finally {
    await environment.close()
  }
}

type Options = ClassicTrainOptions & OpenedTraining & { command: string }

/** The record in the run folder, if there is one. */
async function trainIn(environment: OpenedVector, options: Options): Promise<ClassicResult> {
  const { numEnvs, seed, steps, evaluate, settings = {}, out, command } = options
  if (out === undefined) return trainOn(environment, options, null)
  const { name } = environment.definition
  const config = { schema: 1, kind: 'array', environment: name, seed, numEnvs, steps, evaluate, settings }
  const folder = openRunFolder({ path: resolve(out) })
  const release = claimRun(folder, config, { resume: options.resume === true, notes: { command } })
  try {
    const result = await trainOn(environment, options, folder)
    writeResult(folder, result.summary, config, options.onEvent ?? (() => {}))
    return result
  } finally {
    release()
  }
}

function writeResult(
  folder: RunFolder,
  summary: ClassicSummary,
  config: Record<string, unknown>,
  onEvent: OnTrainingEvent,
): void {
  writeChecked(folder, 'summary.json', `${JSON.stringify(summary, null, 2)}\n`)
  const metrics = readMetrics(folder, onEvent)
  folder.write('report.html', renderArrayReport({ summary, metrics, config }))
}

async function trainOn(
  environment: OpenedVector,
  options: Options,
  folder: RunFolder | null,
): Promise<ClassicResult> {
  const { definition } = environment
  const run = await createRun(environment, options, folder)
  const { agent, state, total } = run
  try {
    if (options.resume === true && folder !== null) await resumeRun(run, folder)
    if (folder !== null && stateOf(environment) === undefined)
      run.emit({
        type: 'note',
        text: `warning: ${definition.name} has no state() and restore(), so that this run cannot be resumed`,
      })
    run.emit({ type: 'phase', name: 'train', total })
    clock(run)
    if (isDue(run)) await validate(run)
    while (state.step < total) {
      const waiting = trainStep(run)
      if (waiting !== undefined) await waiting
    }
    if (state.evaluations.at(-1)?.step !== total) {
      if (state.written < total) logMetrics(run)
      await measure(run, setsOf(run), options.evaluate.episodes)
      saveRunStep(run)
    }
    return { summary: summarise(run), agent }
  } catch (error) {
    // Stopped between two steps, or during an evaluation.
    if (options.signal?.aborted === true && error === options.signal.reason) saveRunStep(run)
    await agent.dispose()
    throw reportStep(error, definition.name, state.step)
  }
}

/**
 * One step of every environment, and the evaluation, metrics and checkpoint that are due after it. Returns a promise only
 * if something waits: the trainings of a batch would otherwise take turns after every step, and each would find the
 * other's numbers in the cache.
 */
function trainStep(run: Run): void | Promise<void> {
  const acting = run.agent.act()
  return acting instanceof Promise ? acting.then(() => stepEnvironments(run)) : stepEnvironments(run)
}

function stepEnvironments(run: Run): void | Promise<void> {
  const { environment, state, options } = run
  checkActions(environment, state.step + options.numEnvs)
  const stepping = environment.step()
  return stepping instanceof Promise ? stepping.then(() => learn(run)) : learn(run)
}

function learn(run: Run): void | Promise<void> {
  const { environment, state, options } = run
  state.step += options.numEnvs
  checkStep(environment, state.step)
  run.measured.stepped(environment)
  const learning = run.agent.learn()
  return learning instanceof Promise
    ? learning.then((learned) => afterLearning(run, learned))
    : afterLearning(run, learning)
}

function afterLearning(run: Run, learned: UpdateMetrics | undefined): void | Promise<void> {
  if (learned !== undefined) {
    run.measured.updated(learned)
    checkUpdate(run, learned)
  }
  if (passed(run, run.logEvery) || isDue(run)) return report(run)
  endStep(run)
}

async function report(run: Run): Promise<void> {
  if (passed(run, run.logEvery)) {
    logMetrics(run)
    warnOfEndless(run)
    // Lets signals through, even if the algorithm never waits.
    await yieldToEventLoop()
  }
  if (isDue(run)) await validate(run)
  endStep(run)
}

function endStep(run: Run): void {
  run.options.signal?.throwIfAborted()
  if (run.state.step < run.total && passed(run, run.checkpointEvery)) saveRunStep(run)
}

/**
 * Warns of metrics that are not finite. Optimisers skip a gradient that is not finite, so one such update does no
 * harm. Many successive ones mean that the run learns nothing.
 *
 * @throws AgogeError `non-finite-loss` naming environment, step and metrics.
 */
function checkUpdate(run: Run, learned: Readonly<Record<string, number>>): void {
  const { state, environment, folder } = run
  const wrong = Object.keys(learned).filter((name) => !Number.isFinite(learned[name]))
  state.notFinite = wrong.length === 0 ? 0 : state.notFinite + 1
  if (wrong.length === 0) return
  const what = `${wrong.join(', ')} ${wrong.length === 1 ? 'is' : 'are'} not finite`
  if (!run.warned.notFinite)
    run.emit({
      type: 'note',
      text: `warning: after ${state.step} steps ${what}; a gradient that is not finite is left out and teaches nothing`,
    })
  run.warned.notFinite = true
  if (state.notFinite < mostNotFinite) return
  saveRunStep(run)
  throw new AgogeError(
    `Training on ${environment.definition.name} stopped after ${state.step} steps: ${what} in ${mostNotFinite} updates in a row`,
    {
      code: 'non-finite-loss',
      given: { environment: environment.definition.name, step: state.step, metrics: wrong },
      expected: 'a loss and a gradient that are finite numbers',
      hint: `${folder === null ? '' : `The last good weights are in ${folder.file('checkpoints')}; `}lower the learning rate, clip the gradient or normalise observations and rewards in a new run`,
    },
  )
}

function warnOfEndless(run: Run): void {
  const { environment, state, options } = run
  if (run.warned.endless || environment.definition.maxSteps !== undefined) return
  for (let i = 0; i < options.numEnvs; i++) {
    if (environment.lengths[i] < endless) continue
    run.warned.endless = true
    run.emit({
      type: 'note',
      text: `warning: an episode of ${environment.definition.name} has gone on for ${endless} steps (environment ${i}, step ${state.step}); it has no maxSteps and may never end`,
    })
    return
  }
}

function summarise({ options, environment, state, times, measured, total }: Run): ClassicSummary {
  const { seed, numEnvs, settings = {}, command } = options
  const { evaluations, best, sets } = state
  return {
    schema: 1,
    kind: 'array',
    command,
    machine: machine(),
    environment: environment.definition.name,
    settings,
    seed,
    numEnvs,
    steps: total,
    episodes: measured.episodes,
    ...times,
    evaluations,
    ...defined({ best: best ?? undefined, sets: sets.length === 0 ? undefined : sets }),
    return: evaluations[evaluations.length - 1].return,
  }
}
