import type { ClassicAlgorithm } from '../algorithm/agent.ts'
import { tabular } from './control.ts'
import type { TabularConfig } from './control.ts'

/** Learns the values of its own epsilon-greedy policy (Rummery & Niranjan 1994; Sutton & Barto 2018, section 6.4). */
export const sarsa = (config: TabularConfig): ClassicAlgorithm =>
  tabular('sarsa', config, ({ q, actions }) => ({
    learn({ state, action, reward, nextState, nextAction, terminated }) {
      const future = terminated ? 0 : config.gamma * q[nextState * actions + nextAction]
      const at = state * actions + action
      q[at] += config.stepSize * (reward + future - q[at])
    },
  }))

/** Sarsa without the chance of the next action: its expectation instead (van Seijen et al. 2009). */
export const expectedSarsa = (config: TabularConfig): ClassicAlgorithm =>
  tabular('expected-sarsa', config, ({ q, actions, expected }) => ({
    learn(step) {
      const future = step.terminated ? 0 : config.gamma * expected(step)
      const at = step.state * actions + step.action
      q[at] += config.stepSize * (step.reward + future - q[at])
    },
  }))
