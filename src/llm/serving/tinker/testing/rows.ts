import type { TrainingSequence } from '../../../episode/types.ts'
import { createRandom } from '../../../../engine/random/index.ts'

/** Training sequences of random tokens, with all requested weights. */
export function randomRows(
  seed: number,
  count: number,
  wish: { rl?: boolean; ce?: boolean; kl?: boolean },
): TrainingSequence[] {
  return Array.from({ length: count }, (_, row) => {
    const random = createRandom(seed, 'rows', row)
    const length = 5 + random.int(12)
    const values = (make: () => number, from = 2): Float32Array =>
      Float32Array.from({ length }, (_value, t) => (t < from ? 0 : make()))
    return {
      tokens: Int32Array.from({ length }, () => random.int(64)),
      logprobs: values(() => -3 - 2 * random.next()),
      advantages: values(() => 2 * random.next() - 1),
      weights: {
        rl: values(() => (wish.rl === true ? 0.01 + random.next() / 20 : 0)),
        ce: values(() => (wish.ce === true ? random.next() / 20 : 0)),
        kl: values(() => (wish.kl === true ? random.next() / 50 : 0)),
      },
    }
  })
}
