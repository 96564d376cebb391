import { add, cast, exp, logSoftmax, mul, neg, reshape, sum, takeAlong } from '../../engine/tensor/index.ts'
import type { Tensor } from '../../engine/tensor/index.ts'
import type { ActionDistribution } from './distribution.ts'

/** One of `n` choices by logits; the first choice has the number `start`. */
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
