import { defined } from '../../../defined.ts'
import type { CustomLoss } from '../../backend/custom-loss.ts'
import type { LossSettings } from '../../model-backend.ts'
import { adaptKlCoefficient } from '../advantages/reward-shaping.ts'
import type { LossDefinition, NamedSettings } from '../define.ts'
import { offPolicyMask } from '../losses/corrections.ts'
import { combineLosses, crossEntropyLoss, highEntropyWeights } from '../losses/imitation.ts'
import { overTokens, type TokenLoss } from '../losses/over-tokens.ts'
import {
  adaptEntropyCoefficient,
  klLoss,
  sampledEntropyLoss,
  unbiasedKlLoss,
} from '../losses/regularisers.ts'
import type { MemberGroup } from './batch.ts'
import type { BaseSettings, KlSettings } from '../types.ts'

/** Settings with numeric coefficients. */
export type CurrentSettings = Omit<BaseSettings, 'entropy' | 'exactEntropy'> & {
  loss: NamedSettings
  entropy?: number
  exactEntropy?: number
}

/** The divergence settings of this update. */
export function currentKl(
  kl: KlSettings | undefined,
  memory: Readonly<Record<string, number>>,
): KlSettings | undefined {
  return kl?.adapt === undefined ? kl : { ...kl, coefficient: memory['kl'] ?? kl.coefficient }
}

/**
 * Measures the divergence of a batch, a mean over the tokens that the policy chose, and stores the next coefficient.
 *
 * @param kl the divergence settings of this update.
 */
export function adaptKl(
  batch: readonly MemberGroup[],
  kl: KlSettings | undefined,
  memory: Record<string, number>,
): Record<string, number> {
  if (kl?.adapt === undefined) return {}
  const judged = batch.flatMap(({ members }) => members.filter(({ length }) => length > 0))
  if (judged.length === 0) return {}
  let sum = 0
  let tokens = 0
  for (const { logprobs, referenceLogprobs } of judged) {
    tokens += logprobs.length
    for (let t = 0; t < logprobs.length; t++) sum += logprobs[t] - referenceLogprobs[t]
  }
  const { coefficient, adapt } = kl
  memory['kl'] = adaptKlCoefficient(coefficient, sum / tokens, { ...adapt, steps: judged.length })
  return { klFromReference: sum / tokens, klCoefficient: coefficient }
}

/**
 * The coefficients of the entropy bonuses in this update. An adaptive bonus applies only if the entropy of the batch is
 * at or below its target. Stores the next coefficient.
 */
export function currentEntropy(
  batch: readonly MemberGroup[],
  settings: Pick<BaseSettings, 'entropy' | 'exactEntropy'>,
  memory: Record<string, number>,
): { coefficients: Pick<CurrentSettings, 'entropy' | 'exactEntropy'>; metrics: Record<string, number> } {
  const coefficients: Pick<CurrentSettings, 'entropy' | 'exactEntropy'> = {}
  let metrics = {}
  for (const name of ['entropy', 'exactEntropy'] as const) {
    const wanted = settings[name]
    const measured = typeof wanted === 'object' ? sampledEntropy(batch) : undefined
    if (typeof wanted === 'number') coefficients[name] = wanted
    if (typeof wanted !== 'object' || measured === undefined) continue
    const coefficient = memory[name] ?? wanted.coefficient
    memory[name] = adaptEntropyCoefficient(coefficient, measured, wanted)
    const counts = measured <= wanted.target
    if (counts) coefficients[name] = coefficient
    metrics = { sampledEntropy: measured, entropyCoefficient: counts ? coefficient : 0 }
  }
  return { coefficients, metrics }
}

/** Mean of -log p over the tokens that the policy chose, an unbiased entropy estimate; undefined without such tokens. */
function sampledEntropy(batch: readonly MemberGroup[]): number | undefined {
  let sum = 0
  let tokens = 0
  for (const { members } of batch)
    for (const { rows } of members)
      for (const { sequence, places } of rows)
        places.forEach((place, t) => {
          if (place < 0) return
          sum -= sequence.logprobs[t]
          tokens++
        })
  return tokens === 0 ? undefined : sum / tokens
}

/**
 * The loss that the settings describe: a one-pass loss of the backend if there is an equivalent one, otherwise a custom
 * loss.
 *
 * @param rows.references log-probabilities of the sequences under the reference, if the divergence is in the loss.
 * @param rows.sampled the sampler's log-probabilities, if the trainer's replaced them in the sequences.
 */
export function lossOf(
  definition: LossDefinition,
  { loss, kl, entropy, exactEntropy, offPolicyMask: threshold, sftHighEntropy = false }: CurrentSettings,
  { references, sampled }: { references?: readonly Float32Array[]; sampled?: readonly Float32Array[] } = {},
): LossSettings | CustomLoss {
  const divergence = kl?.place === 'loss' ? divergenceOf(kl) : undefined
  const plain =
    divergence === undefined && threshold === undefined && entropy === undefined && !sftHighEntropy
  const own = plain ? definition.backend?.(loss) : undefined
  const bonus = exactEntropy === undefined ? {} : { entropyCoefficient: exactEntropy }
  if (own !== undefined) return { ...own, ...bonus }
  const ofTokens: TokenLoss = (inputs) => definition.compute(inputs, loss)
  const policy = entropy === undefined ? ofTokens : withEntropy(ofTokens, entropy)
  const rl: TokenLoss =
    threshold === undefined
      ? policy
      : (inputs) => {
          const samplerLogprobs =
            sampled === undefined ? inputs.samplerLogprobs : sampled.flatMap((row) => Array.from(row))
          return policy({
            ...inputs,
            weights: offPolicyMask({ ...inputs, samplerLogprobs }, { threshold }),
          })
        }
  return overTokens({
    rl,
    ...defined({ kl: divergence }),
    ...(sftHighEntropy ? { ce: sftOnHighEntropy } : {}),
    ...defined({ references }),
    ...bonus,
  })
}

/** Whether a token with zero advantage has a gradient and so must be computed. */
export function movesWithoutAdvantage(
  definition: LossDefinition,
  { kl, entropy, exactEntropy }: CurrentSettings,
): boolean {
  const bonus = entropy !== undefined || exactEntropy !== undefined
  return definition.movesWithoutAdvantage === true || kl?.place === 'loss' || bonus
}

function withEntropy(policy: TokenLoss, coefficient: number): TokenLoss {
  return (inputs) =>
    combineLosses([
      { loss: policy(inputs), coefficient: 1 },
      { loss: sampledEntropyLoss(inputs), coefficient },
    ])
}

const sftOnHighEntropy: TokenLoss = (inputs) =>
  crossEntropyLoss({ ...inputs, weights: highEntropyWeights(inputs.logprobs, inputs.weights) })

function divergenceOf({ estimator }: KlSettings): TokenLoss {
  return estimator === 'unbiased-k3' ? unbiasedKlLoss : (inputs) => klLoss(inputs, estimator)
}
