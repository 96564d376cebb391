import { logSoftmax, mul, neg, sum } from '../../../engine/tensor/index.ts'
import type { ClassicAlgorithm } from '../agent.ts'
import { cleanrlReplay } from './dqn.ts'
import { type ReplayQConfig, replayQLearning } from './replay-q-learning.ts'

/**
 * Writes the distribution of `reward + discount * z` into row `row` of `to` [rows, atoms], where z has
 * `probabilities` over `support`. Projects it onto the support: each mass is shared by the two nearest atoms, in
 * proportion to its nearness (Bellemare, Dabney & Munos 2017, algorithm 1).
 *
 * @param support evenly spaced and increasing, at least 2 atoms
 */
export function projectDistribution(
  probabilities: ArrayLike<number>,
  support: Float64Array,
  reward: number,
  discount: number,
  to: Float32Array,
  row: number,
): void {
  const atoms = support.length
  const low = support[0]
  const spacing = (support[atoms - 1] - low) / (atoms - 1)
  const at = row * atoms
  to.fill(0, at, at + atoms)
  for (let k = 0; k < atoms; k++) {
    const place = Math.max(0, Math.min(atoms - 1, (reward + discount * support[k] - low) / spacing))
    const lower = Math.floor(place)
    const share = place - lower
    to[at + lower] += (1 - share) * probabilities[k]
    if (share > 0) to[at + lower + 1] += share * probabilities[k]
  }
}

/** Settings of `c51`. `c51Presets` has those of published runs. */
export interface C51Config extends ReplayQConfig {
  /** Number of atoms of the distribution, evenly spaced from `low` to `high`. */
  atoms: number
  low: number
  high: number
}

/** Settings of published runs, named after their source. */
export const c51Presets = {
  /** CleanRL `c51.py`. */
  cleanrl: { ...cleanrlReplay, adamEpsilon: 0.01 / 128, atoms: 101, low: -100, high: 100 },
} as const satisfies Record<string, C51Config & { numEnvs: number }>

/**
 * Categorical DQN: learns the distribution of returns over fixed atoms (Bellemare, Dabney & Munos 2017,
 * arXiv:1707.06887). With all options on it is Rainbow (Hessel et al. 2018, arXiv:1710.02298), which uses the loss
 * as priority.
 */
export const c51 = (config: C51Config): ClassicAlgorithm => {
  const { atoms, low, high } = config
  const support = Float64Array.from({ length: atoms }, (_, k) => low + (k * (high - low)) / (atoms - 1))
  const probabilities = new Float64Array(atoms)

  function softmaxRow(logits: Float32Array, row: number): void {
    const at = row * atoms
    let highest = -Infinity
    for (let k = 0; k < atoms; k++) highest = Math.max(highest, logits[at + k])
    let total = 0
    for (let k = 0; k < atoms; k++) total += probabilities[k] = Math.exp(logits[at + k] - highest)
    for (let k = 0; k < atoms; k++) probabilities[k] /= total
  }

  return replayQLearning(config, {
    name: 'c51',
    atoms,
    values(logits, count, to) {
      for (let i = 0; i < count; i++) {
        softmaxRow(logits, i)
        let value = 0
        for (let k = 0; k < atoms; k++) value += probabilities[k] * support[k]
        to[i] = value
      }
    },
    targets({ rows, returns, discounts }, logits, to) {
      for (let r = 0; r < rows; r++) {
        softmaxRow(logits, r)
        projectDistribution(probabilities, support, returns[r], discounts[r], to, r)
      }
    },
    loss(logits, targets) {
      const losses = neg(sum(mul(targets, logSoftmax(logits)), { axes: [-1] }))
      return { losses, errors: losses }
    },
  })
}
