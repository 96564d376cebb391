import type { BatchSettings } from '../algorithm/types.ts'

/**
 * Training methods besides policy optimisation over tokens, by name; `train` and `agoge train` accept them as algorithm.
 * `methods.ts` implements them. This list loads nothing, so that help and tables are fast.
 */
export interface MethodDefinition {
  /** A one-line description. */
  readonly about: string
  /** arXiv number. */
  readonly source: string
  /** Whether the method needs a teacher model. */
  readonly needsTeacher?: true
  /** How the training loop samples and uses batches for this method. */
  readonly batch?: BatchSettings
}

export const trainingMethods = {
  'online-dpo': {
    about: 'best against worst episode of each group: direct preference optimisation',
    source: '2402.04792',
  },
  'online-ipo': { about: 'the same pairs: identity preference optimisation', source: '2310.12036' },
  'online-orpo': { about: 'the same pairs: odds ratios and imitation, no reference', source: '2403.07691' },
  'online-simpo': { about: 'the same pairs: mean log-probabilities, no reference', source: '2405.14734' },
  'expert-iteration': {
    about: 'SFT on the best success of each group (ReST-EM, rejection sampling)',
    source: '2312.06585',
  },
  distillation: {
    about: 'each token raised or lowered by what --teacher thinks of it',
    source: '2306.13649',
    needsTeacher: true,
  },
  ppo: { about: 'PPO with a critic over tokens', source: '1707.06347', batch: { minibatches: 1, epochs: 2 } },
  archer: {
    about: 'ArCHer: twin critics over turns, learning from old episodes too',
    source: '2402.19446',
    batch: { minibatches: 1 },
  },
} as const satisfies Record<string, MethodDefinition>

export type MethodName = keyof typeof trainingMethods

export const isMethod = (name: unknown): name is MethodName =>
  typeof name === 'string' && Object.hasOwn(trainingMethods, name)
