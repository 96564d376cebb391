import { defined } from '../../../defined.ts'
import { closestName } from '../../../closest-name.ts'
import { AgogeError } from '../../../error.ts'
import { type GroupRewards, isUniform } from '../advantages/group.ts'
import {
  advantages,
  type ListedAdvantage,
  type ListedLoss,
  losses,
  type PolicySettings,
} from '../catalogue.ts'
import { type AlgorithmDefinition, defineAlgorithm } from '../define-algorithm.ts'
import type { PresetNameOf } from '../define.ts'
import type { Aggregation } from '../losses/tokens.ts'
import { optimisePolicy, type PolicyOptimisation } from './optimise-policy.ts'

/** A named algorithm of the library. */
export interface PolicyPreset extends AlgorithmDefinition {
  readonly settings: PolicySettings
}

const clip = { name: 'ppo', clipLow: 0.2, clipHigh: 0.2 } as const
const clipHigher = { name: 'ppo', clipLow: 0.2, clipHigh: 0.28 } as const
const tokenMean = { mode: 'token-mean' } as const

/** GRPO as published. */
const grpoSettings = {
  advantage: { name: 'grpo' },
  loss: clip,
  aggregation: { mode: 'sequence-mean' },
  kl: { place: 'loss', estimator: 'k3', coefficient: 0.04 },
} as const satisfies PolicySettings

/** Algorithms combined from components that others use too. All others are the `preset` of their component. */
const combinations = [
  defineAlgorithm({
    name: 'grpo-damped',
    about: 'GRPO with 0.1 added to the deviation, clip-higher, token mean, no reference (the default)',
    source: '2402.03300',
    // The 0.1 keeps small costs from being scaled up to the size of success.
    settings: { advantage: { name: 'grpo', epsilon: 0.1 }, loss: clipHigher, aggregation: tokenMean },
  }),
  defineAlgorithm({
    name: 'grpo',
    about: 'as published: mean of sequences, 0.04 k3 from the reference in the loss',
    source: '2402.03300',
    settings: grpoSettings,
  }),
  defineAlgorithm({
    name: 'dr-grpo',
    about: 'not divided by deviation, nor by length',
    source: '2503.20783',
    settings: {
      advantage: { name: 'grpo', std: false },
      loss: clip,
      aggregation: { mode: 'constant', length: 64 },
    },
  }),
  defineAlgorithm({
    name: 'dapo',
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
  }),
]

type PresetName = (typeof combinations)[number]['name'] | PresetNameOf<ListedAdvantage | ListedLoss>

/**
 * Published algorithms with the settings of their papers, without data, models and learning rates. They are the
 * combinations above and the presets of advantages and losses. `grpo-damped` is the default of `agoge train` and of
 * `train` and is from no paper: GRPO without a reference model, with clip-higher and token mean, and with 0.1 added to
 * the deviation of a group.
 */
export const policyPresets = Object.fromEntries([
  ...combinations.map((preset) => [preset.name, preset]),
  ...[...Object.values(advantages), ...Object.values(losses)].flatMap(
    ({ name, about, source: [source] = [], preset }) => {
      const own = { kind: 'algorithm', name, about, ...defined({ source }), ...preset }
      return preset === undefined ? [] : [[name, own]]
    },
  ),
]) as Readonly<Record<PresetName, PolicyPreset>>

/** Former names of presets. */
const earlierNames = { 'grpo-kl': 'grpo' } as const

/** A name that `findPolicyPreset` and the option `algorithm` of `train` accept. `grpo-kl` is a former name of `grpo`. */
export type PolicyPresetName = PresetName | keyof typeof earlierNames

/**
 * The preset of this name, or of its former name `grpo-kl` of `grpo`.
 *
 * @param others further valid names, for the error message.
 * @throws AgogeError `unknown-algorithm` listing all names.
 */
export function findPolicyPreset(name: string, others: readonly string[] = []): PolicyPreset {
  if (Object.hasOwn(policyPresets, name)) return policyPresets[name as PresetName]
  if (Object.hasOwn(earlierNames, name)) return policyPresets[earlierNames[name as keyof typeof earlierNames]]
  const known = [...Object.keys(policyPresets), ...others]
  const meant = closestName(name, known)
  throw new AgogeError(`There is no algorithm named "${name}" for language models`, {
    code: 'unknown-algorithm',
    given: name,
    expected: `one of ${known.join(', ')}`,
    ...(meant === undefined ? {} : { hint: `Did you mean "${meant}"?` }),
  })
}

/** Former meanings of names, from when runs recorded the name alone. */
const earlierMeanings: Readonly<Record<string, PolicyPreset>> = {
  grpo: policyPresets['grpo-damped'],
  dapo: {
    ...policyPresets.dapo,
    settings: { ...policyPresets.dapo.settings, shaping: { maskOverlong: true } },
  },
}

/**
 * The preset of a run that recorded only this name and no settings.
 *
 * @throws AgogeError `unknown-algorithm` listing all names.
 */
export function presetOfEarlierRun(name: string): PolicyPreset {
  return Object.hasOwn(earlierMeanings, name) ? earlierMeanings[name] : findPolicyPreset(name)
}

const { advantage, loss, aggregation: sequenceMean, kl: divergence } = grpoSettings

/** Settings of `grpo`. The defaults are those of the preset `grpo`. */
export interface GrpoSettings {
  /** Default: `grpoAdvantages` divided by the deviation. Any function from the rewards of a group to advantages works. */
  advantages?: (rewards: GroupRewards) => number[]
  /** Default: 0.2. */
  clipLow?: number
  /** Default: 0.2. DAPO's clip-higher is 0.28. */
  clipHigh?: number
  /** Default: sequence-mean. DAPO uses token-mean. */
  aggregation?: Aggregation
  /** Coefficient of the k3 divergence from the reference in the loss. Default: 0.04; 0 = no reference model. */
  kl?: number
}

/**
 * Group relative policy optimisation as published: the advantage of an episode is its reward relative to the other
 * episodes of the same task, and applies to every token that the policy chose in it. No critic. Zero-variance groups
 * have no advantage: they count in the normaliser, and only the divergence from the reference trains their tokens.
 *
 * Source: DeepSeekMath (arXiv 2402.03300). Without settings this is the preset `grpo`. With `{ kl: 0, clipHigh: 0.28,
 * aggregation: { mode: 'token-mean' }, advantages: (r) => grpoAdvantages(r, { epsilon: 0.1 }) }` it is `grpo-damped`,
 * the default of `train`; `optimisePolicy` has all other options.
 *
 * @example
 * await train({ environment, tasks: filesystemTasks, algorithm: grpo({ kl: 0, clipHigh: 0.28 }) })
 */
export function grpo(settings: GrpoSettings = {}): PolicyOptimisation {
  const {
    advantages,
    clipLow = loss.clipLow,
    clipHigh = loss.clipHigh,
    aggregation = sequenceMean,
    kl = divergence.coefficient,
  } = settings
  const ofGroup = (rewards: GroupRewards): number[] =>
    advantages === undefined || isUniform(rewards) ? rewards.map(() => 0) : advantages(rewards)
  return optimisePolicy({
    advantage:
      advantages === undefined
        ? advantage
        : (groups) => ({ turnAdvantages: groups.map(({ rewards }) => ofGroup(rewards)) }),
    loss: { ...loss, clipLow, clipHigh },
    aggregation,
    ...(kl === 0 ? {} : { kl: { ...divergence, coefficient: kl } }),
  })
}
