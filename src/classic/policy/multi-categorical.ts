import { add, slice } from '../../engine/tensor/index.ts'
import type { Tensor } from '../../engine/tensor/index.ts'
import { categorical } from './categorical.ts'
import type { ActionDistribution } from './distribution.ts'

/** Several independent choices at once, the i-th one of `counts[i]`; the logits stand one after another. */
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
