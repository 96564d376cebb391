import { defined } from '../../defined.ts'
import { intervalText, meanInterval, average } from '../../statistics/statistics.ts'
import type { EvaluationContexts } from './context-settings.ts'
import { agentReturns, cutOffNote, evaluateAgent } from './evaluate-agent.ts'
import { checkpointAt } from './run-record.ts'
import { clock, passed, record, type Run, saveRunStep } from './run.ts'
import type { Evaluation, SetEvaluation } from './types.ts'

/** Name of a set of contexts; undefined for the defaults of the environment. */
type EvaluationOn = readonly [set: string, contextFor: EvaluationContexts | undefined]

/** The sets of contexts of evaluations. Evaluations during training use the first. */
export function setsOf({ options }: Pick<Run, 'options'>): EvaluationOn[] {
  const sets = Object.entries(options.evaluationSets ?? {})
  return sets.length === 0 ? [['default', undefined]] : sets
}

/** Returns true if an evaluation is due at this step and has not been done. */
export function isDue(run: Run): boolean {
  const { state, options, total } = run
  return (
    state.step > 0 &&
    state.step < total &&
    passed(run, options.evaluate.every) &&
    state.evaluations.at(-1)?.step !== state.step
  )
}

/** Evaluates during training. */
export const validate = (run: Run): Promise<void> =>
  measure(run, setsOf(run).slice(0, 1), run.options.evaluate.during)

/** Evaluates the greedy policy on each of the sets. After an interruption, the resumed run evaluates again. */
export async function measure(run: Run, on: readonly EvaluationOn[], episodes: number): Promise<void> {
  const { state } = run
  const found: SetEvaluation[] = []
  for (const each of on) found.push({ set: each[0], ...(await play(run, each, episodes)) })
  const [{ set: _, ...onFirst }] = found
  state.evaluations.push({ step: state.step, ...onFirst })
  if (found.length > 1) state.sets = found
  keepBest(run, onFirst.return.mean)
}

/** Keeps the evaluation with the highest mean return, the earliest of equal ones, with its checkpoint. */
function keepBest(run: Run, value: number): void {
  const { state, folder } = run
  if (state.best !== null && value <= state.best.return) return
  const { step } = state
  state.best = { step, return: value, ...(folder === null ? {} : { checkpoint: checkpointAt(step) }) }
  saveRunStep(run)
}

/** Evaluates the greedy policy on one set of contexts. */
async function play(
  run: Run,
  [set, contextFor]: EvaluationOn,
  episodes: number,
): Promise<Omit<Evaluation, 'step'>> {
  const { options, environment, agent, state, times } = run
  const { seed, signal } = options
  const [[first], ...others] = setsOf(run)
  times.seconds += clock(run)
  const played = await evaluateAgent(agent, options.definition, {
    episodes,
    seed,
    ...defined({ signal, contextFor }),
  })
  const agents = agentReturns(played)
  const found = {
    return: meanInterval(Array.from(played.returns)),
    length: average(played.lengths),
    ...defined({ agents }),
  }
  const seconds = clock(run)
  times.evaluationSeconds += seconds
  const { mean: value, low, high } = found.return
  record(run, set === first ? 'evaluation' : `evaluation-${set}`, seconds, {
    return: value,
    ...(low === null ? {} : { low, high }),
    length: found.length,
    ...Object.fromEntries(Object.entries(agents ?? {}).map(([name, mean]) => [`return-${name}`, mean])),
  })
  const where = others.length === 0 ? '' : ` on ${set} contexts`
  run.emit({
    type: 'note',
    text: `greedy after ${state.step} steps${where}: return ${show(value)} (${intervalText(found.return, show)})${agentsText(agents)}, ${episodes} episodes`,
  })
  const warning = cutOffNote(environment.definition, played)
  if (warning !== undefined) run.emit({ type: 'note', text: warning })
  return found
}

const agentsText = (agents: Readonly<Record<string, number>> = {}): string =>
  Object.entries(agents)
    .map(([name, value]) => `, ${name} ${show(value)}`)
    .join('')

const show = (value: number): string => (Math.abs(value) >= 100 ? value.toFixed(1) : value.toFixed(2))
