import { AgogeError } from '../../../error.ts'
import { closestName } from '../../../closest-name.ts'
import type { BatchSettings } from '../types.ts'
import type { PolicySettings } from './settings.ts'

/** An algorithm by name: plain JSON, so that a run's record says all of it. */
export interface PolicyPreset {
  about: string
  /** arXiv number. */
  source: string
  settings: PolicySettings
  /** How the loop is to sample and use batches for it. */
  batch?: BatchSettings
}

const clip = { name: 'ppo', clipLow: 0.2, clipHigh: 0.2 } as const
const clipHigher = { name: 'ppo', clipLow: 0.2, clipHigh: 0.28 } as const
const tokenMean = { mode: 'token-mean' } as const
const sequenceMean = { mode: 'sequence-mean' } as const
/** The sum over a sequence's tokens, the mean over sequences. */
const sequenceSum = { mode: 'constant', length: 1 } as const
const plainGradient = { name: 'importance-sampling' } as const
const centred = { name: 'grpo', std: false } as const
/** So that small costs are not blown up to the size of success. */
const normalised = { name: 'grpo', epsilon: 0.1 } as const

/**
 * Published algorithms with the settings of their papers, without what was said of data, models and learning rates. `grpo-damped` is the
 * default of `agoge train` and of `train`, and no paper's: GRPO without a reference model, with clip-higher and token mean, and with 0.1 added
 * to the deviation of a group.
 */
export const policyPresets = {
  'grpo-damped': {
    about: 'GRPO with 0.1 added to the deviation, clip-higher, token mean, no reference (the default)',
    source: '2402.03300',
    settings: { advantage: normalised, loss: clipHigher, aggregation: tokenMean },
  },
  grpo: {
    about: 'as published: mean of sequences, 0.04 k3 from the reference in the loss',
    source: '2402.03300',
    settings: {
      advantage: { name: 'grpo' },
      loss: clip,
      aggregation: sequenceMean,
      kl: { place: 'loss', estimator: 'k3', coefficient: 0.04 },
    },
  },
  'dr-grpo': {
    about: 'not divided by deviation, nor by length',
    source: '2503.20783',
    settings: { advantage: centred, loss: clip, aggregation: { mode: 'constant', length: 64 } },
  },
  dapo: {
    about:
      'clip-higher, token mean, zero-variance groups replaced, long answers punished, cut-off ones masked',
    source: '2503.14476',
    settings: {
      advantage: { name: 'grpo' },
      loss: clipHigher,
      aggregation: tokenMean,
      shaping: { maskOverlong: true, softOverlong: {} },
    },
    batch: { resampling: 3 },
  },
  gspo: {
    about: 'one ratio a sequence, clipped as a whole',
    source: '2507.18071',
    settings: {
      advantage: { name: 'grpo' },
      loss: { name: 'gspo', clipLow: 3e-4, clipHigh: 4e-4 },
      aggregation: sequenceMean,
    },
  },
  cispo: {
    about: 'the ratio is clipped, no token loses its gradient',
    source: '2506.13585',
    settings: {
      advantage: { name: 'grpo' },
      loss: { name: 'cispo', convention: 'trl', cap: 5 },
      aggregation: tokenMean,
    },
  },
  sapo: {
    about: 'a soft gate in place of the clip',
    source: '2511.20347',
    settings: { advantage: { name: 'grpo' }, loss: { name: 'sapo' }, aggregation: sequenceMean },
  },
  dppo: {
    about: 'held by the change of probability instead of the ratio',
    source: '2602.04879',
    settings: { advantage: centred, loss: { name: 'dppo' }, aggregation: tokenMean },
  },
  rloo: {
    about: 'against the mean of the others, REINFORCE over whole sequences',
    source: '2402.14740',
    settings: { advantage: { name: 'rloo' }, loss: plainGradient, aggregation: sequenceSum },
    batch: { minibatches: 1 },
  },
  'reinforce++': {
    about: 'no groups: returns whitened over the batch, k1 from the reference in the reward',
    source: '2501.03262',
    settings: {
      advantage: { name: 'reinforce++' },
      loss: clip,
      aggregation: tokenMean,
      kl: { place: 'reward', estimator: 'k1', coefficient: 0.01 },
    },
  },
  'reinforce++-baseline': {
    about: 'less the mean of the group, whitened over the batch, k2 from the reference in the loss',
    source: '2501.03262',
    settings: {
      advantage: { name: 'reinforce++-baseline' },
      loss: clip,
      aggregation: tokenMean,
      kl: { place: 'loss', estimator: 'k2', coefficient: 0.01 },
    },
  },
  remax: {
    about: 'against the greedy answer',
    source: '2310.10505',
    settings: { advantage: { name: 'remax' }, loss: plainGradient, aggregation: sequenceSum },
    batch: { minibatches: 1, greedyBaseline: true },
  },
  opo: {
    about: 'exactly on policy, against the mean weighted by length',
    source: '2505.23585',
    settings: { advantage: { name: 'opo' }, loss: plainGradient, aggregation: sequenceSum },
    batch: { minibatches: 1 },
  },
  maxrl: {
    about: 'divided by the mean of the group: towards the likelihood of success',
    source: '2602.02710',
    settings: { advantage: { name: 'maxrl' }, loss: plainGradient, aggregation: sequenceSum },
    batch: { minibatches: 1 },
  },
  'pass-at-k': {
    about: 'the group is worth its best of 4',
    source: '2508.10751',
    settings: {
      advantage: { name: 'pass-at-k', k: 4, threshold: 0.5 },
      loss: clipHigher,
      aggregation: tokenMean,
    },
  },
  kimi: {
    about: 'a squared log-ratio in place of the clip',
    source: '2501.12599',
    settings: { advantage: centred, loss: { name: 'kimi', tau: 0.1 }, aggregation: sequenceSum },
  },
  topr: {
    about: 'successes imitated whoever made them, failures tapered; for batches used several times',
    source: '2503.14286',
    settings: { advantage: centred, loss: { name: 'topr' }, aggregation: sequenceSum },
  },
} as const satisfies Record<string, PolicyPreset>

/** Names that presets had before. */
const earlierNames = { 'grpo-kl': 'grpo' } as const

export type PolicyPresetName = keyof typeof policyPresets | keyof typeof earlierNames

/**
 * The preset of this name, or of the earlier name `grpo-kl` of `grpo`.
 *
 * @throws AgogeError `unknown-algorithm` that lists all names.
 */
export function findPolicyPreset(name: string): PolicyPreset {
  if (Object.hasOwn(policyPresets, name)) return policyPresets[name as keyof typeof policyPresets]
  if (Object.hasOwn(earlierNames, name)) return policyPresets[earlierNames[name as keyof typeof earlierNames]]
  const known = Object.keys(policyPresets)
  const meant = closestName(name, known)
  throw new AgogeError(`There is no algorithm named "${name}" for language models`, {
    code: 'unknown-algorithm',
    given: name,
    expected: `one of ${known.join(', ')}`,
    ...(meant === undefined ? {} : { hint: `Did you mean "${meant}"?` }),
  })
}

/** What names meant while runs recorded the name alone, where that has changed since. */
const earlierMeanings: Readonly<Record<string, PolicyPreset>> = {
  grpo: policyPresets['grpo-damped'],
  dapo: {
    ...policyPresets.dapo,
    settings: { ...policyPresets.dapo.settings, shaping: { maskOverlong: true } },
  },
}

/**
 * The preset that a run meant which recorded this name without settings.
 *
 * @throws AgogeError `unknown-algorithm` that lists all names.
 */
export function presetOfEarlierRun(name: string): PolicyPreset {
  return Object.hasOwn(earlierMeanings, name) ? earlierMeanings[name] : findPolicyPreset(name)
}
