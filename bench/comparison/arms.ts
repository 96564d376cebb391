import { defineAlgorithm, smallModelPlan } from 'agoge/llm'
import type { TrainOptions, TrainingPlan } from 'agoge/llm'
import type { Setting, SettingName } from './settings.ts'

export type ArmName = 'same' | 'fresh' | 'rejection' | 'rl' | 'fresh-rl' | 'outcome' | 'turns'

/** `common`: every kind as often. `own`: more of what still fails, as far as the arm can know it. */
export type Mixture = 'common' | 'own'

interface ArmInputs {
  setting: Setting
  learningRate: number
  /** The rate of the supervised half, for an arm that has one before RL. */
  firstRate: number | undefined
  mixture: Mixture
  kinds: readonly string[]
  /** Demonstrations per kind of the warm start. */
  shown: number
  /** Success by kind of the warm start in validation. */
  success: Readonly<Record<string, number>>
}

type ArmPlan = Pick<TrainOptions, 'algorithm' | 'demonstrations'> & {
  plan: Pick<TrainingPlan, 'warmStart' | 'reinforcement'>
}

interface Arm {
  letter: string
  about: string
  settings: readonly SettingName[]
  /** Learning rates that are tried first. If the best is at an edge, the next one beyond it is tried too. */
  grid: readonly number[]
  /** The arm whose chosen rate is that of the first half. */
  firstHalf?: ArmName
  plan(inputs: ArmInputs): ArmPlan
}

const { warmStart: supervisedUsual, reinforcement: reinforcementUsual } = smallModelPlan
/** An arm has this phase not at all: no step, no validation. */
const noReinforcement = { ...reinforcementUsual, steps: 0, validateEvery: 0 }
const noSupervision = supervisedUsual

const equal = (kinds: readonly string[]): Record<string, number> =>
  Object.fromEntries(kinds.map((kind) => [kind, 1]))

/** Shares of the kinds in supervised batches. */
function sharesOf({ mixture, kinds, success }: ArmInputs): Record<string, number> {
  if (mixture === 'common') return equal(kinds)
  return Object.fromEntries(kinds.map((kind) => [kind, 0.1 + 1 - (success[kind] ?? 0)]))
}

/** RL's own mixture is its sampler's: most of the kinds with mixed success. */
const drawnBy = ({ mixture, kinds }: ArmInputs): { kindWeights?: Record<string, number> } =>
  mixture === 'common' ? { kindWeights: equal(kinds) } : {}

function supervisedPlan(inputs: ArmInputs, isFresh: boolean): ArmPlan {
  const { setting, kinds, shown, learningRate } = inputs
  const budget = { tokens: setting.budget, validations: setting.validations }
  return {
    demonstrations: isFresh ? {} : Object.fromEntries(kinds.map((kind) => [kind, shown])),
    plan: {
      warmStart: {
        ...supervisedUsual,
        learningRate,
        fresh: isFresh,
        kindWeights: sharesOf(inputs),
        budget,
      },
      reinforcement: noReinforcement,
    },
  }
}

function reinforcementPlan(inputs: ArmInputs, algorithm?: TrainOptions['algorithm']): ArmPlan {
  const { setting, learningRate } = inputs
  const budget = { tokens: setting.budget, validations: setting.validations }
  return {
    ...(algorithm !== undefined && { algorithm }),
    demonstrations: {},
    plan: {
      warmStart: noSupervision,
      reinforcement: {
        ...reinforcementUsual,
        ...drawnBy(inputs),
        learningRate,
        keep: 'best',
        recordGroups: 0,
        budget,
      },
    },
  }
}

/** GRPO as by default, and to each turn its advantage among the turns of the group in the same state (GiGPO). */
const byTurn = defineAlgorithm({
  name: 'grpo-turns',
  about: 'the default with step advantages among equal histories',
  source: '2505.10978',
  settings: {
    advantage: { name: 'step-group', epsilon: 0.1, gamma: 0.95, anchor: 'history' },
    loss: { name: 'ppo', clipLow: 0.2, clipHigh: 0.28 },
    aggregation: { mode: 'token-mean' },
  },
})

const single = ['filesystem', 'memory'] as const

export const arms: Readonly<Record<ArmName, Arm>> = {
  same: {
    letter: 'a',
    about: 'more supervision on the demonstrations of the warm start',
    settings: single,
    grid: [1e-4, 3e-4, 1e-3, 3e-3],
    plan: (inputs) => supervisedPlan(inputs, false),
  },
  fresh: {
    letter: 'b',
    about: 'supervision on fresh demonstrations, as many as fit: the bound that an expert for nothing gives',
    settings: single,
    grid: [3e-4, 1e-3, 3e-3, 1e-2],
    plan: (inputs) => supervisedPlan(inputs, true),
  },
  rejection: {
    letter: 'c',
    about: 'rejection sampling: supervision on the best of eight own attempts, if it succeeded',
    settings: single,
    grid: [1e-4, 3e-4, 1e-3, 3e-3],
    plan(inputs) {
      const made = reinforcementPlan(inputs, 'expert-iteration')
      // The loss is that of supervision, and so is the optimiser.
      const { optimizer, weightDecay } = supervisedUsual
      const { beta2: _, ...usual } = made.plan.reinforcement
      const reinforcement = { ...usual, ...(optimizer && { optimizer }), ...(weightDecay && { weightDecay }) }
      return { ...made, plan: { ...made.plan, reinforcement: { ...reinforcement, minibatches: 1 } } }
    },
  },
  rl: {
    letter: 'd',
    about: 'RL: the algorithm that `agoge train` uses by default',
    settings: single,
    grid: [1e-4, 3e-4, 1e-3],
    plan: (inputs) => reinforcementPlan(inputs),
  },
  'fresh-rl': {
    letter: 'e',
    about: 'half of the budget as (b), then half as (d)',
    settings: single,
    grid: [1e-4, 3e-4, 1e-3],
    firstHalf: 'fresh',
    plan(inputs) {
      const { setting, learningRate, firstRate = learningRate } = inputs
      const half = { tokens: setting.budget / 2, validations: Math.ceil(setting.validations / 2) }
      const first = supervisedPlan({ ...inputs, learningRate: firstRate }, true).plan.warmStart
      const then = reinforcementPlan(inputs).plan.reinforcement
      return {
        demonstrations: {},
        plan: { warmStart: { ...first, budget: half }, reinforcement: { ...then, budget: half } },
      }
    },
  },
  outcome: {
    letter: 'f, outcome',
    about: 'RL with one advantage for the whole episode',
    settings: ['chains'],
    grid: [1e-4, 3e-4, 1e-3],
    plan: (inputs) => reinforcementPlan(inputs),
  },
  turns: {
    letter: 'f, turns',
    about:
      'RL with an advantage for each turn: also against the turns of the group with the same history (GiGPO)',
    settings: ['chains'],
    grid: [1e-4, 3e-4, 1e-3],
    plan: (inputs) => reinforcementPlan(inputs, byTurn),
  },
}

export const armsOf = (setting: SettingName): ArmName[] =>
  (Object.keys(arms) as ArmName[]).filter((name) => arms[name].settings.includes(setting))
