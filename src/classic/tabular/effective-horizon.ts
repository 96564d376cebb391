import type { FiniteModel } from '../environment/index.ts'
import { actionValue } from './dynamic-programming.ts'

export interface EffectiveHorizon {
  /** k + log(1 / gap^2) / log(actions): a learner that explores at random needs about actions^horizon samples. */
  horizon: number
  /** Backups of the random policy's values whose greedy policy is optimal. */
  k: number
  /** Least difference in value between a chosen and an unchosen action. */
  gap: number
}

/** Values closer than this are equal. */
const tie = 1e-12

/**
 * How hard a model is for learners that explore at random and look a few steps ahead (Laidlaw et al. 2024, "The Effective
 * Horizon Explains Deep RL Performance in Stochastic Environments", arXiv:2312.08369): the least horizon over k of
 * those for which every policy that is greedy in the values of the random policy, after k - 1 optimal backups, is
 * optimal. Only states that such a policy can reach count.
 *
 * @param steps after which an episode is truncated; `k = steps` is always enough
 */
export function effectiveHorizon(model: FiniteModel, steps: number): EffectiveHorizon {
  const best = backups(model, steps, steps)
  let found: EffectiveHorizon = { horizon: Infinity, k: 0, gap: 0 }
  for (let k = 1; k <= steps; k++) {
    const gap = solvedBy(model, backups(model, steps, k), best)
    if (gap === undefined) continue
    const horizon = k + Math.log(1 / gap ** 2) / Math.log(model.actions)
    if (horizon < found.horizon) found = { horizon, k, gap }
  }
  return found
}

/** Action values [states * actions] by steps left, 0 to `steps`: optimal for k - 1 steps, random play from then on. */
function backups(model: FiniteModel, steps: number, k: number): Float64Array[] {
  const { states, actions } = model
  // Of random play, then of one more optimal choice with each round, up to k - 1.
  let values = valuesOf(model, steps, (row) => row.reduce((sum, q) => sum + q, 0) / actions)
  for (let round = 1; round < k; round++) {
    const before = values
    values = before.map((_, left) =>
      Float64Array.from({ length: states }, (_, s) =>
        left === 0 ? 0 : actionValues(model, before[left - 1], s).reduce((a, b) => Math.max(a, b)),
      ),
    )
  }
  return values.map((_, left) => {
    const q = new Float64Array(states * actions)
    if (left > 0)
      for (let s = 0; s < states; s++) q.set(actionValues(model, values[left - 1], s), s * actions)
    return q
  })
}

/** State values by steps left, where `combine` makes one of those of the actions. */
function valuesOf(model: FiniteModel, steps: number, combine: (row: Float64Array) => number): Float64Array[] {
  const values = [new Float64Array(model.states)]
  for (let left = 1; left <= steps; left++)
    values.push(values[left - 1].map((_, s) => combine(actionValues(model, values[left - 1], s))))
  return values
}

const actionValues = (model: FiniteModel, later: Float64Array, state: number): Float64Array =>
  Float64Array.from({ length: model.actions }, (_, a) => actionValue(model, later, state, a, 1))

/** The gap where every policy greedy in `q` is optimal; 1 at most, so that no horizon is below k. */
function solvedBy(model: FiniteModel, q: Float64Array[], best: Float64Array[]): number | undefined {
  const { actions, offsets, next, probabilities, terminated } = model
  let gap = 1
  let reached = new Set(Array.from(model.start.keys()).filter((s) => model.start[s] > 0))
  for (let left = q.length - 1; left > 0; left--) {
    const following = new Set<number>()
    for (const s of reached) {
      const at = s * actions
      const row = q[left].subarray(at, at + actions)
      const truth = best[left].subarray(at, at + actions)
      const [most, mostTrue] = [row, truth].map((values) => values.reduce((a, b) => Math.max(a, b)))
      for (let a = 0; a < actions; a++) {
        if (row[a] < most - tie) {
          gap = Math.min(gap, most - row[a])
          continue
        }
        if (truth[a] < mostTrue - tie) return undefined
        for (let o = offsets[at + a]; o < offsets[at + a + 1]; o++)
          if (probabilities[o] > 0 && terminated[o] === 0) following.add(next[o])
      }
    }
    reached = following
  }
  return gap
}
