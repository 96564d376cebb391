import { add } from '../../engine/tensor/index.ts'
import type { Dim, Tensor } from '../../engine/tensor/index.ts'
import { attend, projectHeads } from './attention.ts'
import { attendBlockwise } from './blockwise-attention.ts'
import type { HeadWeights, Rotary } from './attention.ts'
import { attentionParts } from './config.ts'
import type { TransformerConfig } from './config.ts'
import { linear, normalise, shift, swiglu } from './layers.ts'
import { adaptedParts, factorsOf, namedFactors } from './low-rank.ts'
import type { AdaptedPart } from './low-rank.ts'

/** The folded weights of one block as program inputs (`createFolding`). */
export interface BlockWeights extends HeadWeights {
  out: Tensor
  outBias?: Tensor
  gate: Tensor
  up: Tensor
  down: Tensor
}

/** The weights that blocks of a configuration have. */
export function blockWeightNames(config: TransformerConfig): readonly (keyof BlockWeights)[] {
  const { inputBias, outputBias, headNorms } = attentionParts(config)
  const names: (keyof BlockWeights)[] = ['qkv', 'out', 'gate', 'up', 'down']
  if (inputBias) names.push('qkvBias')
  if (outputBias) names.push('outBias')
  if (headNorms) names.push('queryNorm', 'keyNorm')
  return names
}

/** The factors of adapters that a block may have. */
const factorNames = adaptedParts.flatMap((part) => [`${part}.a`, `${part}.b`] as const)

/** The weights of block `layer` among the inputs of a program, and the factors of its adapters. */
export function blockWeights(
  inputs: Record<string, Tensor>,
  layer: number,
  config: TransformerConfig,
): BlockWeights {
  const named = [...blockWeightNames(config), ...factorNames].map((name) => [name, `${layer}.${name}`])
  return Object.fromEntries(
    named.filter(([, input]) => input in inputs).map(([name, input]) => [name, inputs[input]]),
  ) as unknown as BlockWeights
}

/** Projects the mixed heads back to the states. */
export function projectOut(mixed: Tensor, weights: BlockWeights): { y: Tensor; pullback: OutPullback } {
  const out = linear(mixed, weights.out, factorsOf<AdaptedPart>(weights, 'out'))
  const shifted = weights.outBias && shift(out.y, weights.outBias)
  return {
    y: shifted?.y ?? out.y,
    pullback(gy) {
      const { x, weight, factors } = out.pullback(gy)
      const ofBias = shifted && { outBias: shifted.pullback(gy).bias }
      return { x, weights: { out: weight, ...ofBias, ...namedFactors('out', factors) } }
    },
  }
}

type OutPullback = (gy: Tensor) => {
  x: Tensor
  weights: Pick<BlockWeights, 'out' | 'outBias' | 'out.a' | 'out.b'>
}

/** The gated feed-forward half of a block, residual included. x: [tokens, width]. */
export function mlpHalf(x: Tensor, weights: BlockWeights, config: TransformerConfig) {
  const normal = normalise(x, config.rms_norm_eps)
  const gate = linear(normal.y, weights.gate, factorsOf<AdaptedPart>(weights, 'gate'))
  const up = linear(normal.y, weights.up, factorsOf<AdaptedPart>(weights, 'up'))
  const hidden = swiglu(gate.y, up.y)
  const down = linear(hidden.y, weights.down, factorsOf<AdaptedPart>(weights, 'down'))
  return {
    y: add(x, down.y),
    pullback(gy: Tensor) {
      const gDown = down.pullback(gy)
      const gHidden = hidden.pullback(gDown.x)
      const gGate = gate.pullback(gHidden.gate)
      const gUp = up.pullback(gHidden.up)
      return {
        x: add(gy, normal.pullback(add(gGate.x, gUp.x))),
        gate: gGate.weight,
        up: gUp.weight,
        down: gDown.weight,
        ...namedFactors('gate', gGate.factors),
        ...namedFactors('up', gUp.factors),
        ...namedFactors('down', gDown.factors),
      }
    },
  }
}

/** Rows: their number and length, and the number of blocks of their attention if it is split. */
export interface RowShape {
  batch: Dim
  time: Dim
  blocks?: { blocks: number; size: Dim }
}

/** One decoder block over whole sequences. x: [batch * time, width]; limits as for `attend` or `attendBlockwise`. */
export function block(
  x: Tensor,
  weights: BlockWeights,
  rotary: Rotary,
  limits: Tensor,
  { batch, time, blocks }: RowShape,
  config: TransformerConfig,
) {
  const normal = normalise(x, config.rms_norm_eps)
  const heads = projectHeads(normal.y, weights, rotary, batch, time, config)
  const { q, k, v } = heads
  const attention =
    blocks === undefined
      ? attend(q, k, v, limits, batch, time, config)
      : attendBlockwise(q, k, v, limits, batch, blocks, config)
  const out = projectOut(attention.y, weights)
  const mlp = mlpHalf(add(x, out.y), weights, config)
  return {
    y: mlp.y,
    /** From the gradient of the result to that of x and of every weight. */
    pullback(gy: Tensor): { x: Tensor; weights: BlockWeights } {
      const { x: gMiddle, ...gMlp } = mlp.pullback(gy)
      const gOut = out.pullback(gMiddle)
      const gHeads = attention.pullback(gOut.x)
      const gProjected = heads.pullback(gHeads.q, gHeads.k, gHeads.v)
      return {
        x: add(gMiddle, normal.pullback(gProjected.x)),
        weights: { ...gMlp, ...gProjected.weights, ...gOut.weights },
      }
    },
  }
}
