import type { Random } from '../../engine/random/index.ts'
import {
  add,
  cast,
  div,
  exp,
  logSoftmax,
  mul,
  neg,
  reshape,
  slice,
  square,
  sub,
  sum,
  takeAlong,
  type Tensor,
} from '../../engine/tensor/index.ts'
import type { BoxSpace } from '../environment/index.ts'

/** Turns the outputs of a network into actions. Actions are rows of floats, also for discrete choices. */
export interface ActionDistribution {
  /** Number of parameters of a row. */
  readonly parameters: number
  /** Length of an action. */
  readonly actionSize: number
  /**
   * Samples an action from row `row` of `parameters` and writes it to row `row` of `actions`. Returns its
   * log-probability. Without `random` it takes the most likely action. `mask` [rows, n] forbids choices where
   * it is 0.
   */
  draw(
    parameters: Float32Array,
    row: number,
    actions: Float32Array,
    random: Random | undefined,
    mask?: Uint8Array,
  ): number
  /**
   * Traced. Takes parameters [B, p], actions [B, k] and, for choices, maskPenalty [B, n], which is 0 or a large
   * negative number. Results are [B].
   */
  logprob(parameters: Tensor, actions: Tensor, maskPenalty?: Tensor): Tensor
  entropy(parameters: Tensor, maskPenalty?: Tensor): Tensor
}

/** One of `n` choices, by logits. The first choice has the number `start`. */
export function categorical(n: number, start = 0): ActionDistribution {
  const weights = new Float64Array(n)
  const logProbabilities = (logits: Tensor, penalty: Tensor | undefined): Tensor =>
    logSoftmax(penalty === undefined ? logits : add(logits, penalty))
  return {
    parameters: n,
    actionSize: 1,
    draw(logits, row, actions, random, mask) {
      const at = row * n
      let best = -1
      for (let i = 0; i < n; i++) {
        if (mask !== undefined && mask[at + i] === 0) continue
        if (best < 0 || logits[at + i] > logits[at + best]) best = i
      }
      if (best < 0) best = 0
      const highest = logits[at + best]
      let total = 0
      for (let i = 0; i < n; i++) {
        weights[i] = mask !== undefined && mask[at + i] === 0 ? 0 : Math.exp(logits[at + i] - highest)
        total += weights[i]
      }
      let chosen = best
      if (random !== undefined) {
        let left = random.next() * total
        for (let i = 0; i < n; i++) {
          if (weights[i] === 0) continue
          chosen = i
          left -= weights[i]
          if (left < 0) break
        }
      }
      actions[row] = start + chosen
      return logits[at + chosen] - highest - Math.log(total)
    },
    logprob(logits, actions, penalty) {
      const index = cast(add(reshape(actions, [actions.shape[0]]), -start), 'int32')
      return takeAlong(logProbabilities(logits, penalty), index)
    },
    entropy(logits, penalty) {
      const logs = logProbabilities(logits, penalty)
      return neg(sum(mul(exp(logs), logs), { axes: [-1] }))
    },
  }
}

/** Several independent choices, the i-th one of `counts[i]`. Their logits are concatenated. */
export function multiCategorical(counts: readonly number[]): ActionDistribution {
  const offsets = counts.map((_, i) => counts.slice(0, i).reduce((sum, n) => sum + n, 0))
  const total = counts.reduce((sum, n) => sum + n, 0)
  const parts = counts.map((n, i) => ({
    n,
    start: offsets[i],
    choice: categorical(n),
    logits: new Float32Array(n),
  }))
  const one = new Float32Array(1)
  const eachPart = (f: (start: number, end: number, i: number) => Tensor): Tensor =>
    parts.map(({ start, n }, i) => f(start, start + n, i)).reduce((a, b) => add(a, b))
  const cut = (x: Tensor, start: number, end: number): Tensor => slice(x, { axis: 1, start, end })
  return {
    parameters: total,
    actionSize: counts.length,
    draw(parameters, row, actions, random, mask) {
      let logprob = 0
      for (const [i, { n, start, choice, logits }] of parts.entries()) {
        const at = row * total + start
        logits.set(parameters.subarray(at, at + n))
        logprob += choice.draw(logits, 0, one, random, mask?.subarray(at, at + n))
        actions[row * counts.length + i] = one[0]
      }
      return logprob
    },
    logprob: (parameters, actions, penalty) =>
      eachPart((start, end, i) =>
        parts[i].choice.logprob(
          cut(parameters, start, end),
          cut(actions, i, i + 1),
          penalty === undefined ? undefined : cut(penalty, start, end),
        ),
      ),
    entropy: (parameters, penalty) =>
      eachPart((start, end, i) =>
        parts[i].choice.entropy(
          cut(parameters, start, end),
          penalty === undefined ? undefined : cut(penalty, start, end),
        ),
      ),
  }
}

const halfLogTwoPi = 0.5 * Math.log(2 * Math.PI)

/**
 * Independent normals. The parameters of a row are the means, followed by the logarithms of the standard
 * deviations. Actions are not clipped here, so log-probabilities are those of the samples. Clip them before the
 * environment (`clipActionRows`).
 */
export function gaussian(space: BoxSpace): ActionDistribution {
  const k = space.low.length
  const halves = (parameters: Tensor): [Tensor, Tensor] => [
    slice(parameters, { axis: 1, start: 0, end: k }),
    slice(parameters, { axis: 1, start: k, end: 2 * k }),
  ]
  return {
    parameters: 2 * k,
    actionSize: k,
    draw(parameters, row, actions, random) {
      const at = row * 2 * k
      let logprob = 0
      for (let i = 0; i < k; i++) {
        const logDeviation = parameters[at + k + i]
        const noise = random === undefined ? 0 : random.normal()
        actions[row * k + i] = parameters[at + i] + Math.exp(logDeviation) * noise
        logprob -= 0.5 * noise * noise + logDeviation + halfLogTwoPi
      }
      return logprob
    },
    logprob(parameters, actions) {
      const [means, logs] = halves(parameters)
      const noise = div(sub(actions, means), exp(logs))
      return sum(sub(mul(square(noise), -0.5), add(logs, halfLogTwoPi)), { axes: [-1] })
    },
    entropy: (parameters) => sum(add(halves(parameters)[1], 0.5 + halfLogTwoPi), { axes: [-1] }),
  }
}
