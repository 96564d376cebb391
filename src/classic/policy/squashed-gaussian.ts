import type { BoxSpace } from '../environment/index.ts'
import {
  abs,
  add,
  constant,
  div,
  exp,
  log,
  maximum,
  minimum,
  mul,
  relu,
  reshape,
  slice,
  square,
  sub,
  sum,
  tanh,
} from '../../engine/tensor/index.ts'
import type { Tensor } from '../../engine/tensor/index.ts'
import { checkBounded } from './bounded-actions.ts'
import type { ActionDistribution } from './distributions.ts'

const halfLogTwoPi = 0.5 * Math.log(2 * Math.PI)
/** The largest |tanh| that is inverted. At 1 the inverse is infinite. */
const widest = 1 - 1e-6

export interface SquashedGaussian extends ActionDistribution {
  /**
   * Traced: actions [B, k] from standard normal `noise` [B, k], so that gradients reach the parameters, and
   * their log-probabilities [B].
   */
  sample(parameters: Tensor, noise: Tensor): { actions: Tensor; logprobs: Tensor }
}

export interface SquashedGaussianOptions {
  /** Clips the logarithm of the standard deviation to this range. Default: -20 to 2, as in the code of Haarnoja et al. */
  logDeviation?: readonly [low: number, high: number]
}

/**
 * Normals squashed by tanh into the bounds of a box: a = centre + half tanh(u), u ~ N(mean, deviation)
 * (Haarnoja et al. 2018, arXiv:1801.01290, appendix C). The parameters of a row are the means, followed by the
 * logarithms of the standard deviations. Densities are in the units of the box. The most likely action is taken
 * as the one at the mean of u. The entropy has no closed form; it is computed by quadrature.
 *
 * @throws AgogeError `unbounded-action` for an infinite bound
 */
export function squashedGaussian(space: BoxSpace, options: SquashedGaussianOptions = {}): SquashedGaussian {
  checkBounded(space)
  const [lowest, highest] = options.logDeviation ?? [-20, 2]
  const k = space.low.length
  const half = Float32Array.from(space.low, (low, i) => (space.high[i] - low) / 2)
  const centre = Float32Array.from(space.low, (low, i) => (space.high[i] + low) / 2)
  const logHalf = half.reduce((total, h) => total + Math.log(h), 0)
  const row = (values: Float32Array): Tensor => constant(values, [1, k])

  const halves = (parameters: Tensor): { means: Tensor; logs: Tensor } => ({
    means: slice(parameters, { axis: 1, start: 0, end: k }),
    logs: maximum(minimum(slice(parameters, { axis: 1, start: k, end: 2 * k }), highest), lowest),
  })
  const density = (noise: Tensor, logs: Tensor, u: Tensor): Tensor =>
    sub(
      sum(sub(sub(mul(square(noise), -0.5), add(logs, halfLogTwoPi)), logGradient(u)), { axes: [-1] }),
      logHalf,
    )
  return {
    parameters: 2 * k,
    actionSize: k,
    draw(parameters, r, actions, random) {
      const at = r * 2 * k
      let logprob = -logHalf
      for (let i = 0; i < k; i++) {
        const logDeviation = Math.max(lowest, Math.min(highest, parameters[at + k + i]))
        const noise = random === undefined ? 0 : random.normal()
        const u = parameters[at + i] + Math.exp(logDeviation) * noise
        actions[r * k + i] = centre[i] + half[i] * Math.tanh(u)
        const gradient = 2 * (Math.LN2 - u - Math.max(0, -2 * u) - Math.log1p(Math.exp(-2 * Math.abs(u))))
        logprob -= 0.5 * noise * noise + logDeviation + halfLogTwoPi + gradient
      }
      return logprob
    },
    sample(parameters, noise) {
      const { means, logs } = halves(parameters)
      const u = add(means, mul(exp(logs), noise))
      return { actions: add(mul(tanh(u), row(half)), row(centre)), logprobs: density(noise, logs, u) }
    },
    logprob(parameters, actions) {
      const { means, logs } = halves(parameters)
      const y = maximum(minimum(div(sub(actions, row(centre)), row(half)), widest), -widest)
      const u = mul(log(div(add(y, 1), sub(1, y))), 0.5)
      return density(div(sub(u, means), exp(logs)), logs, u)
    },
    entropy(parameters) {
      const { means, logs } = halves(parameters)
      const [batch] = means.shape
      const wide = (x: Tensor): Tensor => reshape(x, [batch, k, 1])
      const u = add(wide(means), mul(exp(wide(logs)), constant(nodes.points, [1, 1, nodes.points.length])))
      const gradients = sum(mul(logGradient(u), constant(nodes.weights, [1, 1, nodes.weights.length])), {
        axes: [-1],
      })
      return add(sum(add(add(logs, 0.5 + halfLogTwoPi), gradients), { axes: [-1] }), logHalf)
    },
  }
}

/** log(1 - tanh(u)^2) = 2 (log 2 - u - softplus(-2 u)), which stays accurate where tanh is close to 1. */
function logGradient(u: Tensor): Tensor {
  const softplus = add(relu(mul(u, -2)), log(add(exp(mul(abs(u), -2)), 1)))
  return mul(sub(sub(Math.LN2, u), softplus), 2)
}

/** The trapezoid rule under a standard normal. For smooth functions its error falls exponentially with the step. */
const nodes = (() => {
  const points = Float32Array.from({ length: 49 }, (_, i) => (i - 24) / 4)
  const heights = points.map((z) => Math.exp(-0.5 * z * z))
  const total = heights.reduce((a, b) => a + b, 0)
  return { points, weights: heights.map((h) => h / total) }
})()
