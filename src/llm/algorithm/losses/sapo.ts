import { defineLoss } from '../define.ts'
import { type LossInputs, type LossValue, sigmoid, sumTokens } from './tokens.ts'

/** Settings of `sapoLoss`. */
export interface SapoSettings {
  /** Temperature of the gate for positive advantages, above 0. Default: 1. */
  temperaturePositive?: number
  /** Temperature of the gate for negative advantages; higher, so that they fade sooner. Default: 1.05. */
  temperatureNegative?: number
}

/**
 * A soft gate in place of the clip: `-(4 / tau) sigmoid(tau (ratio - 1)) A`. At ratio 1 its gradient is the policy
 * gradient; it fades as the ratio moves away from 1 in either direction.
 *
 * Source: SAPO (arXiv 2511.20347); TRL's `sapo`, verl's `sapo` (both with these defaults).
 */
export function sapoLoss(inputs: LossInputs, settings: SapoSettings = {}): LossValue {
  const { temperaturePositive = 1, temperatureNegative = 1.05 } = settings
  return sumTokens(inputs, (logRatio, advantage, difference) => {
    const ratio = Math.exp(logRatio)
    const tau = advantage > 0 ? temperaturePositive : temperatureNegative
    const gate = sigmoid(tau * (ratio - 1))
    // Computing `1 - gate` would round to 0 if the gate is almost open.
    const gradient = -4 * gate * sigmoid(-tau * (ratio - 1)) * ratio * advantage
    return { loss: (-4 / tau) * gate * advantage, derivative: logRatio === difference ? gradient : 0 }
  })
}

export const sapoDefinition = defineLoss({
  name: 'sapo',
  about: 'a soft gate in place of the clip',
  formula: '-(4 / τ) σ(τ (r - 1)) A',
  source: ['2511.20347'],
  settings: {
    temperaturePositive: { type: 'number', above: 0, default: 1 },
    temperatureNegative: { type: 'number', above: 0, default: 1.05 },
  },
  compute: sapoLoss,
  cases: [{}, { settings: { temperaturePositive: 2, temperatureNegative: 3 } }],
  preset: {
    settings: { advantage: { name: 'grpo' }, loss: { name: 'sapo' }, aggregation: { mode: 'sequence-mean' } },
  },
})
