import { count, pointsInterval } from '../../../runs/report/format.ts'
import { type EvaluationResult, isClear } from '../evaluation.ts'
import { describeTools, type ToolRule } from '../tools.ts'

/** How much will be done at most. */
export interface TrainingForecast {
  steps: number
  /** Rollouts of reinforcement learning. */
  rollouts: number
  /** Rollouts of validations. */
  validations: number
  /** Trials of the evaluation at the end. */
  trials: number
  tools: Readonly<Record<string, ToolRule>>
}

/** The plan, one sentence a line, for a person to read before the first call. */
export function describeTraining({
  steps,
  rollouts,
  validations,
  trials,
  tools,
}: TrainingForecast): string[] {
  const acting = Object.entries(tools).flatMap(([name, { mode }]) => (mode === 'run' ? [name] : []))
  const all = rollouts + validations + trials
  return [
    `at most ${count(all)} runs of the agent: ${count(rollouts)} in ${steps} steps of training, ${count(validations)} to choose the weights, ${count(trials)} to compare`,
    ...describeTools(tools).map((text) => `tool ${text}`),
    ...(acting.length === 0
      ? []
      : [
          `${acting.join(', ')} ${acting.length === 1 ? 'acts' : 'act'} for real in each of these ${count(all)} runs`,
        ]),
  ]
}

/** Whether the model became better, as far as the interval shows. */
export function describeGain({ comparisons }: EvaluationResult): string {
  const gain = comparisons.find(({ a, b }) => a === 'trained' && b === 'before')
  if (gain === undefined || gain.n === 0) return 'nothing was measured'
  const text = `${pointsInterval(gain)} over ${gain.n} test tasks`
  if (gain.low === null || gain.high === null) return `no gain is shown: too few test tasks, ${text}`
  if (!isClear({ low: gain.low, high: gain.high }))
    return `no gain is shown: the interval includes zero, ${text}`
  return gain.low > 0 ? `the trained model is better: ${text}` : `the trained model is worse: ${text}`
}
