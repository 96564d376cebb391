import type { Random } from 'agoge/engine'
import { actions, longest, moved, returnOf, rewardOf } from '../levels/levels.ts'
import type { Level } from '../levels/levels.ts'

/**
 * An update rule: 15 weights. Back through an episode it carries a sum g of the reward, the values of both states and the sum after it
 * (weights 0 to 3). The push of the action is the hyperbolic tangent of weights times g, value, reward, chance of the action and 1
 * (4 to 8), that of the value one of g, value, reward and 1 (9 to 12). Two weights are logarithms of how far these pushes go.
 */
export type Rule = Float64Array
/** Number of weights of a rule. */
export const ruleSize = 15

/** Where meta-training begins: pushes an action a little by the sum of the rewards after it, and learns no values. */
export const firstRule = (): Rule => Float64Array.of(1, 0, 0, 1, 0.1, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1)

/** Advantage actor-critic with generalised advantages (Schulman et al. 2016): discount, decay of them, and two rates. */
export const actorCritic = (discount: number, decay: number, policyRate: number, valueRate: number): Rule =>
  Float64Array.from(
    [
      [1, discount, -1, discount * decay],
      [1, 0, 0, 0, 0],
      [1, 0, 0, 0],
      [Math.log(policyRate), Math.log(valueRate)],
    ].flat(),
  )

/** Bound of logits, which keeps chances above 0. */
const most = 15

/** The return, exactly, of the policy that an agent has learned by a rule on a level in some episodes. */
export function learnedReturn(level: Level, rule: Rule, episodes: number, random: Random): number {
  const logits = new Float64Array(level.cells * actions)
  const policy = new Float64Array(logits.length).fill(1 / actions)
  const values = new Float64Array(level.cells)
  const visited = new Uint8Array(longest + 1)
  const taken = new Uint8Array(longest)
  const rewards = new Float64Array(longest)
  for (let episode = 0; episode < episodes; episode++) {
    let length = 0
    visited[0] = level.start
    while (length < longest && level.terminated[visited[length]] === 0) {
      const cell = visited[length]
      let [action, left] = [0, random.next()]
      while (action < actions - 1 && (left -= policy[cell * actions + action]) >= 0) action++
      const to = moved(level, cell, action, random)
      taken[length] = action
      rewards[length] = rewardOf(level, to, random)
      visited[++length] = to
    }
    learn(rule, { logits, policy, values }, { visited, taken, rewards, length })
  }
  return returnOf(level, policy)
}

interface Agent {
  logits: Float64Array
  policy: Float64Array
  /** Values of cells. Those of cells that end an episode stay 0. */
  values: Float64Array
}
interface Episode {
  visited: Uint8Array
  taken: Uint8Array
  rewards: Float64Array
  length: number
}

/** Updates an agent after an episode, from its last step to its first. */
export function learn(w: Rule, { logits, policy, values }: Agent, episode: Episode): void {
  const { visited, taken, rewards, length } = episode
  const policyRate = Math.exp(w[13])
  const valueRate = Math.exp(w[14])
  let g = 0
  for (let t = length - 1; t >= 0; t--) {
    const cell = visited[t]
    const from = cell * actions
    const k = from + taken[t]
    const value = values[cell]
    const reward = rewards[t]
    // Bounds keep a rule that diverges finite.
    g = Math.max(-100, Math.min(100, w[0] * reward + w[1] * values[visited[t + 1]] + w[2] * value + w[3] * g))
    const push = policyRate * Math.tanh(w[4] * g + w[5] * value + w[6] * reward + w[7] * policy[k] + w[8])
    const pull = valueRate * Math.tanh(w[9] * g + w[10] * value + w[11] * reward + w[12])
    values[cell] = Math.max(-100, Math.min(100, value + pull))
    for (let j = from; j < from + actions; j++) {
      const logit = logits[j] + push * ((j === k ? 1 : 0) - policy[j])
      logits[j] = Math.max(-most, Math.min(most, logit))
    }
    let total = 0
    for (let j = from; j < from + actions; j++) total += policy[j] = Math.exp(logits[j])
    for (let j = from; j < from + actions; j++) policy[j] /= total
  }
}
