import { AgogeError } from '../../error.ts'
import { describeSpace, hasIntegers } from '../environment/index.ts'
import type { ArraySpace, BoxSpace, EnvironmentDefinition } from '../environment/index.ts'
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
import type { ActionDistribution } from './distributions.ts'

/** Converts between [-1, 1] and the bounds of the environment. Learners of continuous control work in [-1, 1]. */
export interface BoundedActions {
  readonly size: number
  /** Writes `rows` actions in the units of the environment. */
  toDefinition(unit: Float32Array, rows: number, actions: Float32Array): void
  /** Converts back to [-1, 1]. */
  toUnit(actions: Float32Array, rows: number, unit: Float32Array): void
}

/** @throws AgogeError `unbounded-action` for an infinite bound */
function checkBounded(space: BoxSpace): void {
  const at = space.low.findIndex((low, i) => !Number.isFinite(low) || !Number.isFinite(space.high[i]))
  if (at < 0) return
  throw new AgogeError('actions pressed into bounds need bounds', {
    code: 'unbounded-action',
    given: `action ${at} from ${space.low[at]} to ${space.high[at]}`,
    expected: 'finite bounds',
    hint: 'give the action space of the environment finite bounds, or use an algorithm with an unbounded policy, such as PPO',
  })
}

/** @throws AgogeError `unsupported-space` for a box of integers, because samples are real numbers */
export function checkReal(environment: string, space: BoxSpace): void {
  if (!hasIntegers(space)) return
  throw new AgogeError(
    `policies of continuous actions draw real numbers, and the actions of ${environment} are integers`,
    {
      code: 'unsupported-space',
      given: describeSpace(space),
      expected: 'a box of float32 or float64',
      hint: 'declare the actions as multiDiscrete, or as such a box whose numbers step() rounds',
    },
  )
}

/**
 * Conversions for an environment with bounded continuous actions.
 *
 * @throws AgogeError `unsupported-space` for other actions and for integers, `unbounded-action` for an infinite
 * bound
 */
export function boundedActions({ name, action }: EnvironmentDefinition): BoundedActions {
  if (action.type !== 'box') {
    throw new AgogeError(`this algorithm needs continuous actions, and those of ${name} are not`, {
      code: 'unsupported-space',
      given: action.type,
      expected: 'box',
      hint: 'for choices there are DQN, PPO and the discrete form of SAC',
    })
  }
  checkReal(name, action)
  checkBounded(action)
  const { low, high } = action
  const size = low.length
  return {
    size,
    toDefinition(unit, rows, actions) {
      for (let i = 0; i < rows * size; i++) {
        const c = i % size
        actions[i] = low[c] + (0.5 * unit[i] + 0.5) * (high[c] - low[c])
      }
    },
    toUnit(actions, rows, unit) {
      for (let i = 0; i < rows * size; i++) {
        const c = i % size
        unit[i] = (2 * (actions[i] - low[c])) / (high[c] - low[c]) - 1
      }
    },
  }
}

/**
 * Clips the first `rows` actions [rows, k] to the bounds of a box, in place, as Stable-Baselines3 and CleanRL
 * do before a step. Keeps NaN. Does nothing for other spaces.
 */
export function clipActionRows(space: ArraySpace, actions: Float32Array, rows: number): void {
  if (space.type !== 'box') return
  const { low, high } = space
  const size = low.length
  for (let r = 0; r < rows; r++) {
    for (let k = 0; k < size; k++) {
      const at = r * size + k
      actions[at] = Math.min(Math.max(actions[at], low[k]), high[k])
    }
  }
}

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
