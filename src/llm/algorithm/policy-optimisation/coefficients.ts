import { adaptKlCoefficient } from '../advantages/reward-shaping.ts'
import { adaptEntropyCoefficient } from '../losses/regularisers.ts'
import type { MemberGroup } from './batch.ts'
import type { NamedSettings } from '../define.ts'
import type { BaseSettings, KlSettings } from './settings.ts'

/** Settings whose coefficients are numbers. */
export type CurrentSettings = Omit<BaseSettings, 'entropy' | 'exactEntropy'> & {
  loss: NamedSettings
  entropy?: number
  exactEntropy?: number
}

/** The divergence as it counts in this update. */
export function currentKl(
  kl: KlSettings | undefined,
  memory: Readonly<Record<string, number>>,
): KlSettings | undefined {
  return kl?.adapt === undefined ? kl : { ...kl, coefficient: memory['kl'] ?? kl.coefficient }
}

/**
 * Measures the divergence of a batch, a mean over the tokens that the policy chose, and remembers the next coefficient.
 *
 * @param kl as it counts in this update.
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
 * The coefficients of the bonuses for entropy in this update, from the entropy of the batch as its tokens tell it: an adaptive one
 * counts only where that is not above the target. Remembers the next one.
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

/** Mean of -log p over the tokens that the policy chose, an estimate without bias; undefined where there are none. */
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
