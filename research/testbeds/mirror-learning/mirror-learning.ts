import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { each } from '../each.ts'

/** Size of the environments. */
export const [states, actions] = [8, 3]
const gamma = 0.9

/** A random environment in which every action leads to one of two states (Garnet; Archibald et al. 1995). */
export function garnet(seed: string) {
  const random = createRandom('garnet', seed)
  const pairs = each(states * actions).map(() => ({
    reward: random.normal(),
    to: [random.int(states), random.int(states)],
    chance: random.next(),
  }))
  const worth = (values: ArrayLike<number>, pair: number): number => {
    const { reward, to, chance } = pairs[pair]
    return (1 - gamma) * reward + gamma * (chance * values[to[0]] + (1 - chance) * values[to[1]])
  }
  return { pairs, worth, best: optimum(worth) }
}
export type Garnet = ReturnType<typeof garnet>

function optimum(worth: (values: ArrayLike<number>, pair: number) => number): number {
  let values = new Float64Array(states)
  for (let sweep = 0; sweep < 100; sweep++)
    values = values.map((_, s) => Math.max(...each(actions).map((a) => worth(values, s * actions + a))))
  return values.reduce((a, b) => a + b) / states
}

/** Exactly, by sweeps: values, action values, the distribution of states, and the return from a uniform start. */
export function evaluated({ pairs, worth }: Garnet, policy: Float64Array) {
  let [values, visits] = [new Float64Array(states), new Float64Array(states).fill(1 / states)]
  const q = new Float64Array(states * actions)
  for (let sweep = 0; sweep < 60; sweep++) {
    const [after, spread] = [new Float64Array(states), new Float64Array(states).fill((1 - gamma) / states)]
    for (let pair = 0; pair < q.length; pair++) {
      const s = Math.floor(pair / actions)
      const { to, chance } = pairs[pair]
      q[pair] = worth(values, pair)
      after[s] += policy[pair] * q[pair]
      const flow = gamma * visits[s] * policy[pair]
      spread[to[0]] += flow * chance
      spread[to[1]] += flow * (1 - chance)
    }
    ;[values, visits] = [after, spread]
  }
  return { values, q, visits, total: values.reduce((a, b) => a + b) / states }
}

/** What an update adds to the advantage of an action whose probability has changed by `ratio`: minus the slope of a drift. */
export type Pull = (ratio: number, advantage: number) => number

const [iterations, epochs, samples] = [6, 10, 100]

function softmax(logits: Float64Array, into: Float64Array): void {
  for (let s = 0; s < states; s++) {
    let [most, sum] = [-Infinity, 0]
    for (let k = s * actions; k < (s + 1) * actions; k++) most = Math.max(most, logits[k])
    for (let k = s * actions; k < (s + 1) * actions; k++) sum += into[k] = Math.exp(logits[k] - most)
    for (let k = s * actions; k < (s + 1) * actions; k++) into[k] /= sum
  }
}

/**
 * Policy iteration by gradients: in each of six iterations advantages with the noise of a hundred samples, then ten epochs on them. Returns
 * the return, 0 of the uniform policy and 100 of the best one, and the share of updates that the drift changes.
 */
export function optimised(environment: Garnet, random: Random, pull: Pull, rate: number) {
  const logits = new Float64Array(states * actions)
  const [old, now, advantages] = [
    new Float64Array(logits.length),
    new Float64Array(logits.length),
    new Float64Array(logits.length),
  ]
  let [pulled, start] = [0, 0]
  for (let iteration = 0; iteration < iterations; iteration++) {
    softmax(logits, old)
    const { q, values, visits, total } = evaluated(environment, old)
    if (iteration === 0) start = total
    let scale = 1e-12
    for (let k = 0; k < old.length; k++) {
      const weight = visits[Math.floor(k / actions)] * old[k]
      // As many samples of a pair as the policy visits it, each with the spread of a return.
      advantages[k] =
        q[k] - values[Math.floor(k / actions)] + (0.3 * random.normal()) / Math.sqrt(samples * weight + 1)
      scale += weight * advantages[k] ** 2
    }
    for (let k = 0; k < old.length; k++) advantages[k] /= Math.sqrt(scale)
    for (let epoch = 0; epoch < epochs; epoch++) {
      softmax(logits, now)
      for (let s = 0; s < states; s++) {
        let mean = 0
        for (let k = s * actions; k < (s + 1) * actions; k++) {
          // Bounds for ratios and slopes that would overflow.
          const ratio = Math.max(1e-6, now[k] / Math.max(old[k], 1e-12))
          const back = Math.max(-50, Math.min(50, pull(ratio, advantages[k])))
          if (back !== 0) pulled++
          logits[k] += rate * visits[s] * now[k] * (advantages[k] + back)
          mean += now[k] * (advantages[k] + back)
        }
        for (let k = s * actions; k < (s + 1) * actions; k++) logits[k] -= rate * visits[s] * now[k] * mean
      }
    }
  }
  softmax(logits, now)
  const { total } = evaluated(environment, now)
  return {
    score: (100 * (total - start)) / (environment.best - start),
    pulled: pulled / (iterations * epochs * logits.length),
  }
}
