import type { FiniteModel } from '../environment/index.ts'
import { actionValue } from './dynamic-programming.ts'

/** The result of `effectiveHorizon`. */
export interface EffectiveHorizon {
  /** k + log(1 / gap^2) / log(actions). A learner that explores at random needs about actions^horizon samples. */
  horizon: number
  /** Optimal backups of the random policy's values, after which the greedy policy is optimal. */
  k: number
  /** Least difference in value between a chosen action and another. */
  gap: number
}

/** Values closer than this count as equal. */
const tie = 1e-12

/**
 * The effective horizon of a model: how hard it is for learners that explore at random and look a few steps ahead
 * (Laidlaw et al. 2024, "The Effective Horizon Explains Deep RL Performance in Stochastic Environments",
 * arXiv:2312.08369). It is the least horizon over all k for which every policy that is greedy in the random
 * policy's values, after k - 1 optimal backups, is optimal. Only states that such a policy can reach count.
 *
 * @param steps length at which an episode is truncated; `k = steps` always suffices
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

/** Action values [states * actions] by steps left, 0 to `steps`: optimal for k - 1 steps, then random. */
function backups(model: FiniteModel, steps: number, k: number): Float64Array[] {
  const { states, actions } = model
  // First the values of random play. Each round adds one more optimal choice, up to k - 1.
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

/** State values by steps left. `combine` turns the action values of a state into its value. */
function valuesOf(model: FiniteModel, steps: number, combine: (row: Float64Array) => number): Float64Array[] {
  const values = [new Float64Array(model.states)]
  for (let left = 1; left <= steps; left++)
    values.push(values[left - 1].map((_, s) => combine(actionValues(model, values[left - 1], s))))
  return values
}

const actionValues = (model: FiniteModel, later: Float64Array, state: number): Float64Array =>
  Float64Array.from({ length: model.actions }, (_, a) => actionValue(model, later, state, a, 1))

/** The gap if every policy greedy in `q` is optimal, at most 1 so that no horizon is below k. */
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
