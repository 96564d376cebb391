import type { Objective, ParameterSet } from '../../engine/nn/index.ts'
import type { HostTensor } from '../../engine/tensor/index.ts'
import type { UpdateMetrics } from './agent.ts'

/**
 * Moves parameters against a gradient, for example `createAdam`. Returns the norm of the gradient before clipping.
 */
export interface Optimiser {
  step(parameters: Float32Array, gradient: Float32Array, learningRate: number): number
}

/** Parameters with their loss and optimiser. */
export interface Trained<Metric extends string> {
  readonly objective: Objective<Metric>
  readonly parameters: ParameterSet
  readonly optimiser: Optimiser
}

/**
 * Computes the gradient of a loss, and makes one step of the optimiser.
 *
 * @param fixed parameters that the loss reads and that do not change, for example those of a target network.
 * @returns the outputs of the loss, and as metrics the loss, the norm of the gradient and every output that is a
 * single number.
 * @example
 * const { metrics } = await gradientStep({ objective, parameters, optimiser: createAdam(parameters.data.length) }, 1e-3, batch)
 */
export async function gradientStep<Metric extends string>(
  { objective, parameters, optimiser }: Trained<Metric>,
  learningRate: number,
  feeds: Readonly<Record<string, HostTensor>>,
  fixed?: Omit<ParameterSet, 'data'>,
): Promise<{ metrics: UpdateMetrics; outputs: Record<Metric, HostTensor> }> {
  const { loss, outputs } = await objective.evaluate(parameters, feeds, fixed)
  const stepped = applyGradient(optimiser, parameters, objective.gradient, learningRate)
  return { metrics: { loss, ...stepped, ...scalars(outputs) }, outputs }
}

/**
 * Makes one step of an optimiser, in place. Optimisers skip a gradient that is not finite. Such a gradient is
 * reported as a metric that is not finite, named after the first parameter concerned.
 *
 * @returns `gradientNorm`, before clipping.
 */
export function applyGradient(
  optimiser: Optimiser,
  parameters: Pick<ParameterSet, 'data'>,
  gradient: Pick<ParameterSet, 'data' | 'views'>,
  learningRate: number,
): UpdateMetrics {
  const gradientNorm = optimiser.step(parameters.data, gradient.data, learningRate)
  return Number.isFinite(gradientNorm) ? { gradientNorm } : { gradientNorm, ...notFinite(gradient.views) }
}

/** Empty if only the norm overflows. */
function notFinite(gradient: ParameterSet['views']): UpdateMetrics {
  const name = Object.keys(gradient).find((each) => !gradient[each].every(Number.isFinite))
  return name === undefined ? {} : { [`gradient of ${name}`]: NaN }
}

/** The metrics of one of several networks: `actorLoss`, `actorGradientNorm`, and the others under their own names. */
export const metricsOf = (
  network: string,
  { loss, gradientNorm, ...others }: UpdateMetrics,
): UpdateMetrics => ({ [`${network}Loss`]: loss, [`${network}GradientNorm`]: gradientNorm, ...others })

/** The outputs of a program that are single numbers. */
export function scalars(outputs: Readonly<Record<string, HostTensor>>): UpdateMetrics {
  const found: UpdateMetrics = {}
  for (const [name, { data }] of Object.entries(outputs)) if (data.length === 1) found[name] = data[0]
  return found
}

/** Adds up the metrics of several updates. `mean` divides each sum by the number of updates that had the metric. */
export function meanMetrics(): { add(metrics: UpdateMetrics): void; mean(): UpdateMetrics } {
  const sums: UpdateMetrics = {}
  const counts: UpdateMetrics = {}
  return {
    add(metrics) {
      for (const [name, value] of Object.entries(metrics)) {
        sums[name] = (sums[name] ?? 0) + value
        counts[name] = (counts[name] ?? 0) + 1
      }
    },
    mean: () => Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, sum / counts[name]])),
  }
}
