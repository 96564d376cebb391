import { finiteModel } from 'agoge/classic'
import type { FiniteModel } from 'agoge/classic'
import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { each } from '../each.ts'

/** Size of the environment. */
export const [states, actions] = [30, 4]
/** Chances of the three states that an action leads to. */
export const chances = [0.7, 0.2, 0.1]

/** A random environment: each action leads to three states, a few states are rewarded, one of them well. */
export function garnet(seed: number): FiniteModel {
  const random = createRandom('garnet', seed)
  const rewards = each(states).map((s) => (s === 0 ? 0 : s < 6 ? 0.2 : s === 6 ? 1 : 0))
  return finiteModel({
    states,
    actions,
    start: 0,
    outcomes: () => {
      const chosen = random.shuffle(each(states)).slice(0, 3)
      return chances.map((probability, k) => ({
        probability,
        state: chosen[k],
        reward: rewards[chosen[k]],
        terminated: false,
      }))
    },
  })
}

/** The action of the highest value in a state; the first of several. */
export const greedy = (q: Float64Array, s: number): number => {
  let best = s * actions
  for (let k = best + 1; k < (s + 1) * actions; k++) if (q[k] > q[best]) best = k
  return best % actions
}

/** Q-learning on random steps of a replay buffer, which holds state, action, reward and next state of each step, one after another. */
export function replay(
  q: Float64Array,
  buffer: readonly number[],
  settings: { stepSize: number; discount: number; updates: number },
  random: Random,
): void {
  const { stepSize, discount, updates } = settings
  for (let update = 0; update < updates; update++) {
    const at = 4 * random.int(buffer.length / 4)
    const [k, next] = [buffer[at] * actions + buffer[at + 1], buffer[at + 3]]
    const future = q[next * actions + greedy(q, next)]
    q[k] += stepSize * (buffer[at + 2] + discount * future - q[k])
  }
}
