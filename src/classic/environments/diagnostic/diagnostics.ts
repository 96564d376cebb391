import {
  box,
  type ContextSpace,
  defineEnvironment,
  discrete,
  type EnvArrays,
  type EnvironmentDefinition,
} from '../../environment/index.ts'

/** All diagnostics have one observed number, one action and one number of state, which is the observation. */
const diagnosticBase = (kind: DiagnosticKind) => ({
  observation: box([1], -1, 1),
  action: kind === 'discrete' ? discrete(2) : box([1], -1, 1),
  stateSize: 1,
  observe({ state, observations }: EnvArrays, i: number): void {
    observations[i] = state[i]
  },
})

/** The action, clipped to its bounds. */
const clipped = (action: number): number => Math.max(-1, Math.min(1, action))

/**
 * An environment that an algorithm with one particular fault cannot solve, together with the expected values
 * and actions (after Andy Jones, "Debugging RL, without the agonizing pain", and the tests of rejax).
 */
export interface Diagnostic {
  /** The fault that it detects. */
  readonly about: string
  readonly definition: EnvironmentDefinition
  /** Pairs of observations and their true values for a discount. */
  readonly values?: (gamma: number) => readonly (readonly [observation: number, value: number])[]
  /** Pairs of observations and their best actions. */
  readonly actions?: readonly (readonly [observation: number, action: number])[]
}

/** The kind of actions of a diagnostic environment. */
export type DiagnosticKind = 'discrete' | 'continuous'

const laterReward = { default: 1, low: 0.5, high: 2, about: 'reward of every step but the first' }

/** Two steps: from -1 to 1 with reward 0, then from 1 to 1 with reward 1. */
const twoSteps = (kind: DiagnosticKind, ends: boolean) =>
  defineEnvironment({
    ...diagnosticBase(kind),
    name: `probe-${ends ? 'terminated' : 'truncated'}-value-${kind}`,
    context: { reward: laterReward },
    maxSteps: 2,
    reset({ state }, i) {
      state[i] = -1
    },
    step({ state, context, rewards, terminated }, i) {
      const second = state[i] === 1
      rewards[i] = second ? context.reward[i] : 0
      terminated[i] = second && ends ? 1 : 0
      state[i] = 1
    },
  })

/**
 * Episodes are only truncated, so the values are those of a continuing task: 1 / (1 - gamma). An algorithm that
 * treats the truncation as a termination learns 1; one that bootstraps from the observation after the reset, 1
 * / (1 - gamma^2).
 */
const truncatedValue = (kind: DiagnosticKind): Diagnostic => ({
  about: 'a truncated episode is bootstrapped from its last observation',
  definition: twoSteps(kind, false),
  values: (gamma) => [
    [-1, gamma / (1 - gamma)],
    [1, 1 / (1 - gamma)],
  ],
})

/** The same, but the step that would be truncated terminates, so no value follows. */
const terminatedValue = (kind: DiagnosticKind): Diagnostic => ({
  about: 'a terminated episode is not bootstrapped, also where the limit is reached in the same step',
  definition: twoSteps(kind, true),
  values: (gamma) => [
    [-1, gamma],
    [1, 1],
  ],
})

const rightReward = { default: 1, low: 0.5, high: 2, about: 'of the right choice' }
const target = {
  default: 0.5,
  low: 0.2,
  high: 0.8,
  about: 'best continuous action; it has the sign of the observation',
}

/**
 * One step. Discrete: choice 1 has reward 1, choice 0 has reward -1. Continuous: minus the squared distance
 * from the target.
 */
const choose = (kind: DiagnosticKind, name: string, sees: boolean) =>
  defineEnvironment<ContextSpace>({
    ...diagnosticBase(kind),
    name: `probe-${name}-${kind}`,
    context: kind === 'discrete' ? { reward: rightReward } : { target },
    reset({ state }, i, random) {
      state[i] = sees && random.integers(2) === 0 ? -1 : 1
    },
    step({ state, context, actions, rewards, terminated }, i) {
      if (kind === 'discrete') {
        const right = state[i] === 1 ? 1 : 0
        rewards[i] = actions[i] === right ? context.reward[i] : -context.reward[i]
      } else {
        const miss = clipped(actions[i]) - state[i] * context.target[i]
        rewards[i] = -miss * miss
      }
      terminated[i] = 1
    },
  })

const best = (kind: DiagnosticKind): Record<-1 | 1, number> =>
  kind === 'discrete' ? { [-1]: 0, 1: 1 } : { [-1]: -0.5, 1: 0.5 }

/** One action is always the best. */
const policy = (kind: DiagnosticKind): Diagnostic => ({
  about: 'the policy moves towards the reward',
  definition: choose(kind, 'policy', false),
  actions: [[1, best(kind)[1]]],
})

/** The best action depends on the observation. */
const observedPolicy = (kind: DiagnosticKind): Diagnostic => ({
  about: 'the policy sees the observation, and advantages belong to their rows',
  definition: choose(kind, 'observed-policy', true),
  actions: [
    [-1, best(kind)[-1]],
    [1, best(kind)[1]],
  ],
})

const onlyReward = { default: 1, low: 0.5, high: 2, about: 'reward of the only rewarded step' }

/** One step with reward 1 and a constant observation: the value is 1. */
const constantValue = (kind: DiagnosticKind): Diagnostic => ({
  about: 'the value learns a constant',
  definition: defineEnvironment({
    ...diagnosticBase(kind),
    name: `probe-constant-value-${kind}`,
    context: { reward: onlyReward },
    reset({ state }, i) {
      state[i] = 0
    },
    step({ context, rewards, terminated }, i) {
      rewards[i] = context.reward[i]
      terminated[i] = 1
    },
  }),
  values: () => [[0, 1]],
})

/** One step. The reward is the observation, -1 or 1. */
const observedValue = (kind: DiagnosticKind): Diagnostic => ({
  about: 'the value sees the observation',
  definition: defineEnvironment({
    ...diagnosticBase(kind),
    name: `probe-observed-value-${kind}`,
    context: { reward: onlyReward },
    reset({ state }, i, random) {
      state[i] = random.integers(2) === 1 ? 1 : -1
    },
    step({ state, context, rewards, terminated }, i) {
      rewards[i] = context.reward[i] * state[i]
      terminated[i] = 1
    },
  }),
  values: () => [
    [-1, -1],
    [1, 1],
  ],
})

/** Two steps. Only the second has reward 1, so the value of the first is the discount. */
const discountedValue = (kind: DiagnosticKind): Diagnostic => ({
  about: 'the value of the next step is discounted, once',
  definition: defineEnvironment({
    ...diagnosticBase(kind),
    name: `probe-discounted-value-${kind}`,
    context: { reward: onlyReward },
    reset({ state }, i) {
      state[i] = 0
    },
    step({ state, context, rewards, terminated }, i) {
      const last = state[i] === 1
      rewards[i] = last ? context.reward[i] : 0
      terminated[i] = last ? 1 : 0
      state[i] = 1
    },
  }),
  values: (gamma) => [
    [0, gamma],
    [1, 1],
  ],
})

/**
 * A test of memory. The first observation is -1 or 1, all others are 0. After `steps` steps, a discrete last
 * action has reward 1 if it is the choice that was shown (0 for -1), otherwise -1; a continuous one has minus
 * its squared distance from the first observation. Without memory, the best mean return is 0 or -1,
 * respectively.
 */
export const memoryDiagnostic = (steps: number, kind: DiagnosticKind): EnvironmentDefinition =>
  defineEnvironment({
    ...diagnosticBase(kind),
    name: `probe-memory-${kind}`,
    context: { reward: { default: 1, low: 0.5, high: 2, about: 'scale of the reward' } },
    /** The first observation, and the number of steps. */
    stateSize: 2,
    reset({ state }, i, random) {
      state[2 * i] = random.integers(2) === 1 ? 1 : -1
      state[2 * i + 1] = 0
    },
    step({ state, context, actions, rewards, terminated }, i) {
      const shown = state[2 * i]
      const last = ++state[2 * i + 1] === steps
      const miss = clipped(actions[i]) - shown
      const isRight = actions[i] === (shown === 1 ? 1 : 0)
      const outcome = kind === 'continuous' ? -miss * miss : isRight ? 1 : -1
      rewards[i] = last ? context.reward[i] * outcome : 0
      terminated[i] = last ? 1 : 0
    },
    observe({ state, observations }, i) {
      observations[i] = state[2 * i + 1] === 0 ? state[2 * i] : 0
    },
  })

const all = {
  'constant-value': constantValue,
  'observed-value': observedValue,
  'discounted-value': discountedValue,
  'truncated-value': truncatedValue,
  'terminated-value': terminatedValue,
  policy,
  'observed-policy': observedPolicy,
}

export type SkillName = keyof typeof all

/** All diagnostics by name, from the most basic ability to the most advanced. */
export const diagnosticNames = Object.keys(all) as readonly SkillName[]

/** A diagnostic with two choices or with one continuous action in [-1, 1]. */
export const diagnostic = (name: SkillName, kind: DiagnosticKind): Diagnostic => all[name](kind)
