import { entry } from '../algorithm/agent.ts'
import type { ClassicAlgorithm, ClassicAlgorithmEntry } from '../algorithm/agent.ts'
import { tabular } from './control.ts'
import type { MakeRule, Tables, TabularConfig, TabularStep } from './control.ts'
import type { EnvironmentDefinition } from '../environment/index.ts'

/**
 * Q-learning: learns the values of the optimal policy, whatever policy it follows (Watkins 1989; Watkins & Dayan
 * 1992).
 *
 * @throws AgogeError `bad-argument` for settings outside their range
 * @example
 * const algorithm = qLearning({ gamma: 0.95, stepSize: 0.2, epsilonStart: 1, epsilonEnd: 0.1, explorationFraction: 0.5 })
 */
export const qLearning = (config: TabularConfig): ClassicAlgorithm =>
  tabular('q-learning', config, ({ q, actions, best }) => ({
    learn(step) {
      const future = step.terminated ? 0 : config.gamma * best(q, step)
      const at = step.state * actions + step.action
      q[at] += config.stepSize * (step.reward + future - q[at])
    },
  }))

/**
 * Double Q-learning (van Hasselt 2010): each of two tables evaluates the other's choice, which avoids the bias of
 * a maximum over noisy values. Acts by their mean.
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

/**
 * Sarsa: learns the values of its own epsilon-greedy policy (Rummery & Niranjan 1994; Sutton & Barto 2018, section
 * 6.4).
 */
export const sarsa = (config: TabularConfig): ClassicAlgorithm =>
  tabular('sarsa', config, ({ q, actions }) => ({
    learn({ state, action, reward, nextState, nextAction, terminated }) {
      const future = terminated ? 0 : config.gamma * q[nextState * actions + nextAction]
      const at = state * actions + action
      q[at] += config.stepSize * (reward + future - q[at])
    },
  }))

/** Expected Sarsa: replaces the value of the next action by its expectation (van Seijen et al. 2009). */
export const expectedSarsa = (config: TabularConfig): ClassicAlgorithm =>
  tabular('expected-sarsa', config, ({ q, actions, expected }) => ({
    learn(step) {
      const future = step.terminated ? 0 : config.gamma * expected(step)
      const at = step.state * actions + step.action
      q[at] += config.stepSize * (step.reward + future - q[at])
    },
  }))

/**
 * Sarsa with `nSteps` rewards before the bootstrap (Sutton & Barto 2018, section 7.2). At a truncation, the
 * waiting steps are bootstrapped from the last state.
 */
export const nStepSarsa = (config: TabularConfig & { nSteps: number }): ClassicAlgorithm =>
  tabular('n-step-sarsa', config, ({ q, actions, numEnvs }) => {
    const { gamma, stepSize, nSteps } = config
    /**
     * Entry `environment * nSteps + k`: the waiting state-action pairs and their discounted rewards so far, the
     * k-th modulo nSteps.
     */
    const arrays = {
      pairs: new Int32Array(numEnvs * nSteps),
      returns: new Float64Array(numEnvs * nSteps),
      oldest: new Int32Array(numEnvs),
      waiting: new Int32Array(numEnvs),
    }
    const { pairs, returns, oldest, waiting } = arrays
    return {
      learn({ envIndex, state, action, reward, nextState, nextAction, terminated, ended }) {
        const entry = (k: number): number => envIndex * nSteps + ((oldest[envIndex] + k) % nSteps)
        const count = ++waiting[envIndex]
        pairs[entry(count - 1)] = state * actions + action
        returns[entry(count - 1)] = 0
        for (let k = 0; k < count; k++) returns[entry(k)] += gamma ** (count - 1 - k) * reward
        const complete = ended ? count : count === nSteps ? 1 : 0
        for (let k = 0; k < complete; k++) {
          const future = terminated ? 0 : gamma ** (count - k) * q[nextState * actions + nextAction]
          const at = pairs[entry(k)]
          q[at] += stepSize * (returns[entry(k)] + future - q[at])
        }
        oldest[envIndex] = (oldest[envIndex] + complete) % nSteps
        waiting[envIndex] -= complete
      },
      state: () => Object.fromEntries(Object.entries(arrays).map(([name, array]) => [name, array.slice()])),
      restore(saved) {
        for (const [name, array] of Object.entries(arrays))
          array.set((saved as Record<string, Float64Array>)[name])
      },
    }
  })

/** Settings of `sarsaLambda` and `qLambda`. */
export interface TracesConfig extends TabularConfig {
  /** Decay of traces: 0 is one step, 1 the whole episode. */
  lambda: number
  /** How a visit changes a trace: adds one, or sets it to one (default; Singh & Sutton 1996). */
  traces?: 'accumulating' | 'replacing'
}

/** Traces below this are dropped. */
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
 * Q-learning with eligibility traces (Watkins 1989; Sutton & Barto 2018, section 12.10). Traces are cut at an
 * exploring action, after which the rewards are no longer those of the greedy policy.
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
  /** Returns true if traces continue after the step. */
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
      /** [numEnvs, pairs]. */
      strength: new Float64Array(numEnvs * pairs),
      /** The pairs of each environment that have a trace, and their number. */
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

/**
 * Settings. `annealed` lowers epsilon over the run, for stochastic environments (our own). `sutton-barto` are
 * those of the cliff in Sutton & Barto 2018, example 6.6, with the step size of example 6.5.
 */
export const tabularPresets = {
  annealed: {
    numEnvs: 4,
    stepSize: 0.1,
    gamma: 0.99,
    epsilonStart: 1,
    epsilonEnd: 0.05,
    explorationFraction: 0.7,
  },
  'sutton-barto': {
    numEnvs: 1,
    stepSize: 0.5,
    gamma: 1,
    epsilonStart: 0.1,
    epsilonEnd: 0.1,
    explorationFraction: 0,
  },
} as const satisfies Record<string, TabularConfig & { numEnvs: number }>

const { annealed, 'sutton-barto': suttonBarto } = tabularPresets

const nStepPresets = {
  annealed: { ...annealed, nSteps: 4 },
  'sutton-barto': { ...suttonBarto, nSteps: 4 },
} as const

const tracesPresets = {
  annealed: { ...annealed, lambda: 0.8 },
  'sutton-barto': { ...suttonBarto, lambda: 0.8 },
} as const

const onTables = {
  defaultPreset: (environment: string) =>
    environment.startsWith('cliff-walking') ? 'sutton-barto' : 'annealed',
  suits: ({ observation, action }: EnvironmentDefinition) =>
    observation.type === 'discrete' && action.type === 'discrete',
  network: false,
}

/** The tabular algorithms by name, for environments with discrete states and actions. */
export const tabularAlgorithms: Readonly<Record<string, ClassicAlgorithmEntry>> = {
  'q-learning': entry({
    ...onTables,
    about: 'a table of action values, off-policy (Watkins 1989)',
    presets: tabularPresets,
    create: qLearning,
  }),
  'double-q-learning': entry({
    ...onTables,
    about: 'two tables that evaluate each other (van Hasselt 2010)',
    presets: tabularPresets,
    create: doubleQLearning,
  }),
  sarsa: entry({
    ...onTables,
    about: 'a table of the values of its own policy (Rummery & Niranjan 1994)',
    presets: tabularPresets,
    create: sarsa,
  }),
  'expected-sarsa': entry({
    ...onTables,
    about: 'Sarsa with the expectation over the next action (van Seijen et al. 2009)',
    presets: tabularPresets,
    create: expectedSarsa,
  }),
  'n-step-sarsa': entry({
    ...onTables,
    about: 'Sarsa with several rewards before the bootstrap (Sutton & Barto 2018)',
    presets: nStepPresets,
    create: nStepSarsa,
  }),
  'sarsa-lambda': entry({
    ...onTables,
    about: 'Sarsa with eligibility traces (Rummery & Niranjan 1994)',
    presets: tracesPresets,
    create: sarsaLambda,
  }),
  'q-lambda': entry({
    ...onTables,
    about: 'Q-learning with eligibility traces (Watkins 1989)',
    presets: tracesPresets,
    create: qLambda,
  }),
}
