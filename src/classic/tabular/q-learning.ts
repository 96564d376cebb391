import type { ClassicAlgorithm } from '../algorithm/agent.ts'
import { tabular } from './control.ts'
import type { TabularConfig } from './control.ts'

/** Learns the values of the best policy whatever it does itself (Watkins 1989; Watkins & Dayan 1992). */
export const qLearning = (config: TabularConfig): ClassicAlgorithm =>
  tabular('q-learning', config, ({ q, actions, best }) => ({
    learn(step) {
      const future = step.terminated ? 0 : config.gamma * best(q, step)
      const at = step.state * actions + step.action
      q[at] += config.stepSize * (step.reward + future - q[at])
    },
  }))

/**
 * Two tables, each judging the choice of the other, so that chance is not taken for value (van Hasselt 2010, "Double
 * Q-learning"). It acts by their mean.
 */
export const doubleQLearning = (config: TabularConfig): ClassicAlgorithm =>
  tabular('double-q-learning', config, ({ q, actions, bestAction }, random) => {
    const tables = [q.slice(), q.slice()]
    return {
      learn(step) {
        const which = random.next() < 0.5 ? 0 : 1
        const learns = tables[which]
        const judges = tables[1 - which]
        const future = step.terminated
          ? 0
          : config.gamma * judges[step.nextState * actions + bestAction(learns, step)]
        const at = step.state * actions + step.action
        learns[at] += config.stepSize * (step.reward + future - learns[at])
        q[at] = (learns[at] + judges[at]) / 2
      },
      state: () => tables.map((table) => table.slice()),
      restore: (saved) => tables.forEach((table, i) => table.set((saved as Float64Array[])[i])),
    }
  })
