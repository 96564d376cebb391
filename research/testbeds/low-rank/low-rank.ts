import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { each } from '../each.ts'
import { dot } from '../vectors.ts'

export { dot } from '../vectors.ts'

/** Size of the environment: `latents` states that count, `copies` states that show each of them. */
export const [latents, copies, actions, horizon] = [4, 5, 3, 6]
/** Number of states that are seen. */
export const states = latents * copies
/** The latent of a state. */
export const latentOf = (s: number): number => Math.floor(s / copies)
/** Divided by the sum. */
export const scaled = (row: number[]): number[] => row.map((value) => value / row.reduce((a, b) => a + b))
/** Every state with every action, in the order of features, rewards and transitions. */
export const pairs = each(states * actions).map((pair) => ({
  s: Math.floor(pair / actions),
  a: pair % actions,
}))
/** The first of the best actions of a state. */
export const best = (q: number[], s: number): number =>
  each(actions).reduce((a, b) => (q[s * actions + b] > q[s * actions + a] ? b : a), 0)

/** A lock of latents, each seen as one of five states. Its transitions have rank 4. */
export function lowRank(seed: number) {
  const random = createRandom('low-rank', seed)
  const right = each(latents).map(() => random.int(actions))
  const to = pairs.map(({ s, a }) => (a === right[latentOf(s)] ? Math.min(latents - 1, latentOf(s) + 1) : 0))
  const chance = (z: number, goal: number): number => 0.9 * Number(z === goal) + 0.1 * Number(z === 0)
  const transitions = to.map((goal) => each(states).map((s) => chance(latentOf(s), goal) / copies))
  const rewards = pairs.map(({ s }, p) =>
    latentOf(s) === latents - 1 ? 1 : latentOf(s) + to[p] === 0 ? 0.05 : 0,
  )
  return { to, transitions, rewards }
}

/** Backward induction: the greedy policy [horizon][states], and the value of the first latent. */
export function induction(
  model: number[][],
  rewards: number[],
  value: (q: number[], s: number, h: number) => number,
) {
  let values = each(states).map(() => 0)
  const policy = each(horizon).map((_, k) => {
    const q = model.map((row, p) => Math.min(horizon, rewards[p] + dot(row, values)))
    values = each(states).map((s) => value(q, s, horizon - 1 - k))
    return each(states).map((s) => best(q, s))
  })
  return { policy: policy.reverse(), value: average(values.slice(0, copies)) }
}

/**
 * Least squares from features of pairs to next states, and how uncertain each pair is: the model and the bonus of LSVI-UCB (Jin et al.
 * 2020, arXiv:1907.05388). Indicators of pairs as features give counts.
 */
export function leastSquares(features: readonly number[][]) {
  const k = features[0].length
  const inverse = each(k).map((i) => each(k).map((j) => Number(i === j)))
  const led = each(states).map(() => each(k).map(() => 0))
  function learn(pair: number, next: number): void {
    const phi = features[pair]
    const u = inverse.map((row) => dot(row, phi))
    const scale = 1 / (1 + dot(u, phi))
    for (let i = 0; i < k; i++) {
      led[next][i] += phi[i]
      if (u[i] !== 0) for (let j = 0; j < k; j++) inverse[i][j] -= scale * u[i] * u[j]
    }
  }
  function fit() {
    const weights = features.map((phi) => inverse.map((row) => dot(row, phi)))
    const uncertain = features.map((phi, p) => Math.sqrt(Math.max(0, dot(phi, weights[p]))))
    return { uncertain, model: weights.map((w) => led.map((row) => dot(w, row))) }
  }
  return { learn, fit }
}
