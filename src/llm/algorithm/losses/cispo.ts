import { defineLoss } from '../define.ts'
import { AgogeError } from '../../../error.ts'
import { type LossInputs, type LossValue, sumTokens } from './tokens.ts'

/**
 * How the clip settings are read; the libraries differ. `verl`: the ratio is clipped to [1 - low, 1 + high]. `trl`:
 * `high` is the cap itself and there is no lower bound.
 */
export type CispoSettings =
  | { convention: 'verl'; clipLow: number; clipHigh: number }
  | { convention: 'trl'; cap: number }

/**
 * REINFORCE weighted by a clipped ratio that carries no gradient: `-stop(clip(ratio)) * A * logprob`. Every token keeps
 * its gradient; the clip bounds the weight of off-policy tokens.
 *
 * The returned value is relative to the sampler (`-clip(ratio) * A * (logprob - sampler logprob)`): it has the same
 * gradient and does not grow with the length of the text.
 *
 * Source: MiniMax-M1 (arXiv 2506.13585).
 */
export function cispoLoss(inputs: LossInputs, settings: CispoSettings): LossValue {
  const low = settings.convention === 'verl' ? 1 - settings.clipLow : 0
  const cap = settings.convention === 'verl' ? 1 + settings.clipHigh : settings.cap
  if (!(cap > low))
    throw new AgogeError('The cap of CISPO lies below its lower bound', {
      code: 'bad-config',
      given: settings,
      expected:
        "a cap above the lower bound; with convention 'verl' the cap is 1 + clipHigh, with 'trl' it is the cap itself",
    })
  return sumTokens(inputs, (logRatio, advantage, difference) => {
    const ratio = Math.exp(logRatio)
    const bounded = Math.min(cap, Math.max(low, ratio))
    return {
      loss: -bounded * advantage * difference,
      derivative: -bounded * advantage,
      clipped: bounded !== ratio,
    }
  })
}

export const cispoDefinition = defineLoss({
  name: 'cispo',
  about: 'the ratio is clipped, no token loses its gradient',
  formula: '-stop(clip(r)) A log p, two conventions of the cap',
  source: ['2506.13585'],
  settings: {
    convention: { oneOf: ['verl', 'trl'] },
    clipLow: { type: 'number', minimum: 0, optional: true },
    clipHigh: { type: 'number', minimum: 0, optional: true },
    cap: { type: 'number', above: 0, optional: true },
  },
  compute: cispoLoss,
  backend: (settings) =>
    settings.convention === 'trl' ? { name: 'cispo', clipHigh: settings.cap - 1 } : undefined,
  stopsGradient: () => true,
  cases: [
    { settings: { convention: 'trl', cap: 5 } },
    { settings: { convention: 'verl', clipLow: 0.2, clipHigh: 0.28 } },
  ],
  preset: {
    settings: {
      advantage: { name: 'grpo' },
      loss: { name: 'cispo', convention: 'trl', cap: 5 },
      aggregation: { mode: 'token-mean' },
    },
  },
})
