import { cispoLoss } from '../../algorithm/losses/cispo.ts'
import { crossEntropyLoss } from '../../algorithm/losses/imitation.ts'
import { importanceSamplingLoss, ppoLoss } from '../../algorithm/losses/ppo.ts'
import type { CustomLoss } from '../../backend/custom-loss.ts'
import type { LossSettings } from '../../model-backend.ts'
import type { TrainingSequence } from '../../episode/types.ts'
import { refuse } from './refusal.ts'

/** A loss of the protocol in the words of the engine: one that it does in one pass, or a function of log-probabilities. */
export interface EngineLoss {
  /** What `forwardBackward` is told. */
  loss: LossSettings | CustomLoss
  /** The loss alone, of a pass without gradient. */
  value: (logprobs: readonly Float32Array[], sequences: readonly TrainingSequence[]) => number
}

/** Which settings a loss has, with the values that it has unless told; without a value it must be told. */
const settingsOf: Readonly<Record<string, Readonly<Record<string, number | undefined>>>> = {
  cross_entropy: {},
  importance_sampling: {},
  ppo: { clip_low_threshold: 0.8, clip_high_threshold: 1.2 },
  cispo: { clip_low_threshold: 0, clip_high_threshold: 4 },
  dro: { beta: undefined },
}

type Inputs = Parameters<typeof ppoLoss>[0]
type TokenLoss = (inputs: Inputs) => { value: number; gradient: Float32Array; clipFraction: number }

/** @throws AgogeError `tinker-bad-request` for a loss or a setting that there is not. */
export function engineLoss(lossFn: string, config: Readonly<Record<string, number>>): EngineLoss {
  const defaults = Object.hasOwn(settingsOf, lossFn) ? settingsOf[lossFn] : undefined
  if (defaults === undefined) {
    throw refuse('tinker-bad-request', `There is no loss ${lossFn} here`, {
      expected: Object.keys(settingsOf).join(', '),
      hint: 'Any other loss: forward_backward_custom of the SDK, which needs cross_entropy only.',
    })
  }
  const strange = Object.keys(config).find((name) => !(name in defaults))
  if (strange !== undefined) {
    const expected = Object.keys(defaults).join(', ') || 'no settings'
    throw refuse('tinker-bad-request', `The loss ${lossFn} has no setting ${strange}`, { expected })
  }
  const setting = (name: string): number => {
    const value = config[name] ?? defaults[name]
    if (value !== undefined) return value
    throw refuse('tinker-bad-request', `The loss ${lossFn} needs the setting ${name}`)
  }
  switch (lossFn) {
    case 'cross_entropy':
      return { loss: { name: 'cross_entropy' }, value: sumOver(undefined) }
    case 'importance_sampling':
      return { loss: { name: 'importance_sampling' }, value: sumOver(importanceSamplingLoss) }
    case 'ppo': {
      const { clipLow, clipHigh } = clips(setting)
      return {
        loss: { name: 'ppo', clipLow, clipHigh },
        value: sumOver((inputs) => ppoLoss(inputs, { clipLow, clipHigh })),
      }
    }
    case 'cispo': {
      const { clipLow, clipHigh } = clips(setting)
      const token: TokenLoss = (inputs) =>
        absolute(inputs, cispoLoss(inputs, { convention: 'verl', clipLow, clipHigh }))
      // In one pass the engine's ratio has no bound below.
      const loss = setting('clip_low_threshold') <= 0 ? ({ name: 'cispo', clipHigh } as const) : custom(token)
      return { loss, value: sumOver(token) }
    }
    default: {
      const token: TokenLoss = (inputs) => droLoss(inputs, setting('beta'))
      setting('beta')
      return { loss: custom(token), value: sumOver(token) }
    }
  }
}

function clips(setting: (name: string) => number): { clipLow: number; clipHigh: number } {
  const low = setting('clip_low_threshold')
  const high = setting('clip_high_threshold')
  if (high > low && high > 0) return { clipLow: 1 - low, clipHigh: high - 1 }
  throw refuse('tinker-bad-request', 'The thresholds of the clip are the wrong way round', {
    given: { clip_low_threshold: low, clip_high_threshold: high },
    expected: 'bounds of the ratio itself, as 0.8 and 1.2',
  })
}

/** `cispoLoss` gives its value relative to the sampler; the protocol's is -clip(ratio) A logprob. The gradient is the same. */
function absolute({ logprobs }: Inputs, loss: ReturnType<TokenLoss>): ReturnType<TokenLoss> {
  return { ...loss, value: loss.gradient.reduce((sum, derivative, t) => sum + derivative * logprobs[t], 0) }
}

/** -(A logprob - beta / 2 (logprob - sampler's)^2), token by token: Richemond et al. 2024 (arXiv 2405.19107) as Tinker has it. */
function droLoss(
  { logprobs, samplerLogprobs, advantages, weights }: Inputs,
  beta: number,
): ReturnType<TokenLoss> {
  const gradient = new Float32Array(logprobs.length)
  let value = 0
  for (let t = 0; t < logprobs.length; t++) {
    const difference = logprobs[t] - samplerLogprobs[t]
    value -= weights[t] * (advantages[t] * logprobs[t] - 0.5 * beta * difference ** 2)
    gradient[t] = -weights[t] * (advantages[t] - beta * difference)
  }
  return { value, gradient, clipFraction: 0 }
}

const inputsOf = (
  logprobs: Float32Array,
  { logprobs: sampler, advantages, weights }: TrainingSequence,
): Inputs => ({
  logprobs,
  samplerLogprobs: sampler,
  advantages,
  weights: weights.rl,
})

function custom(token: TokenLoss): CustomLoss {
  return (logprobs, sequences) => {
    if (sequences.some(({ weights: { ce, kl } }) => [...ce, ...kl].some((weight) => weight !== 0)))
      throw refuse('tinker-bad-request', 'This loss mixes nothing in', {
        expected: 'no ce_weights and kl_weights',
      })
    const values = sequences.map((sequence, i) => token(inputsOf(logprobs[i], sequence)))
    return {
      loss: values.reduce((sum, { value }) => sum + value, 0),
      gradients: values.map(({ gradient }) => gradient),
    }
  }
}

function sumOver(token: TokenLoss | undefined): EngineLoss['value'] {
  return (logprobs, sequences) =>
    sequences.reduce((sum, sequence, i) => {
      const inputs = inputsOf(logprobs[i], sequence)
      const imitation = crossEntropyLoss({ ...inputs, weights: sequence.weights.ce }).value
      return sum + imitation + (token?.(inputs).value ?? 0)
    }, 0)
}
