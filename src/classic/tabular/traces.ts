import type { ClassicAlgorithm } from '../algorithm/agent.ts'
import { tabular } from './control.ts'
import type { MakeRule, TabularConfig, TabularStep, Tables } from './control.ts'

export interface TracesConfig extends TabularConfig {
  /** How slowly traces fade: 0 is one step, 1 the whole episode. */
  lambda: number
  /** What a visit makes of a trace: one more, or one (default; Singh & Sutton 1996). */
  traces?: 'accumulating' | 'replacing'
}

/** Traces below this are forgotten. */
const faintest = 1e-8

/** Sarsa with eligibility traces (Rummery & Niranjan 1994; Sutton & Barto 2018, section 12.7). */
export const sarsaLambda = (config: TracesConfig): ClassicAlgorithm =>
  tabular(
    'sarsa-lambda',
    config,
    withTraces(config, {
      future: ({ q, actions }, { nextState, nextAction }) => q[nextState * actions + nextAction],
      keeps: () => true,
    }),
  )

/**
 * Q-learning with eligibility traces that are cut where it explores, since what follows is not the best policy's any
 * more (Watkins 1989; Sutton & Barto 2018, section 12.10).
 */
export const qLambda = (config: TracesConfig): ClassicAlgorithm =>
  tabular(
    'q-lambda',
    config,
    withTraces(config, {
      future: ({ q, best }, step) => best(q, step),
      keeps: ({ nextIsGreedy }) => nextIsGreedy,
    }),
  )

interface TraceMethod {
  future: (tables: Tables, step: TabularStep) => number
  /** Whether traces live on after the step. */
  keeps: (step: TabularStep) => boolean
}

function withTraces(
  { gamma, lambda, stepSize, traces = 'replacing' }: TracesConfig,
  { future, keeps }: TraceMethod,
): MakeRule {
  return (tables) => {
    const { q, states, actions, numEnvs } = tables
    const pairs = states * actions
    const arrays = {
      /** [slots, pairs]. */
      strength: new Float64Array(numEnvs * pairs),
      /** The pairs of each slot that have a trace, and how many. */
      live: new Int32Array(numEnvs * pairs),
      counts: new Int32Array(numEnvs),
    }
    const { strength, live, counts } = arrays
    return {
      learn(step) {
        const { envIndex, state, action, reward, terminated, ended } = step
        const base = envIndex * pairs
        const pair = state * actions + action
        const error = reward + (terminated ? 0 : gamma * future(tables, step)) - q[pair]
        if (strength[base + pair] === 0) live[base + counts[envIndex]++] = pair
        strength[base + pair] = traces === 'replacing' ? 1 : strength[base + pair] + 1
        const fade = ended || !keeps(step) ? 0 : gamma * lambda
        let remaining = 0
        for (let k = 0; k < counts[envIndex]; k++) {
          const other = live[base + k]
          q[other] += stepSize * error * strength[base + other]
          const left = fade * strength[base + other]
          strength[base + other] = left < faintest ? 0 : left
          if (left >= faintest) live[base + remaining++] = other
        }
        counts[envIndex] = remaining
      },
      state: () => Object.fromEntries(Object.entries(arrays).map(([name, array]) => [name, array.slice()])),
      restore(saved) {
        for (const [name, array] of Object.entries(arrays))
          array.set((saved as Record<string, Float64Array>)[name])
      },
    }
  }
}
