import {
  add,
  compile,
  concat,
  gather,
  matmul,
  mul,
  reshape,
  rmsNormalise,
  rotate,
  slice,
  softmax,
  transpose,
} from '../tensor/index.ts'
import type { Dim, InputSpec, Program, Tensor } from '../tensor/index.ts'
import { attend, limited, ownScores, projectHeads } from './attention.ts'
import { blockWeights, projectOut } from './block.ts'
import type { BlockWeights } from './block.ts'
import { headWidth } from './config.ts'
import type { TransformerConfig } from './config.ts'
import { foldedInputs } from './folded-weights.ts'
import { linear, swiglu } from './layers.ts'

type Inputs = Record<string, Tensor>

/** Attention of the new tokens in a layer, from their normalised states: the mix [tokens, heads * width], new keys and values. */
type Attention = (
  unit: Tensor,
  weights: BlockWeights,
  layer: number,
) => { mixed: Tensor; keys: Tensor; values: Tensor }

interface PastKeysValues {
  keys: Tensor
  values: Tensor
  limits: Tensor
}

function commonInputs(config: TransformerConfig): Record<string, InputSpec> {
  const half = headWidth(config) / 2
  return {
    ...foldedInputs(config),
    cosineTable: { shape: ['M', half] },
    sineTable: { shape: ['M', half] },
  }
}

function cacheInputs(config: TransformerConfig): Record<string, InputSpec> {
  const shape: Dim[] = ['B', config.num_key_value_heads, 'P', headWidth(config)]
  const layers = Array.from({ length: config.num_hidden_layers }, (_, layer) => layer)
  return {
    pastLimits: { shape: ['B', 1, 1, 'P'] },
    ...Object.fromEntries(
      layers.flatMap((layer) => [`keys.${layer}`, `values.${layer}`]).map((name) => [name, { shape }]),
    ),
  }
}

/** All blocks over new tokens [count]; the outputs hold the new keys and values of each layer. */
function newTokens(inputs: Inputs, tokens: Tensor, config: TransformerConfig, attention: Attention) {
  const outputs: Record<string, Tensor> = {}
  let x = gather(inputs['embedding'], tokens, 0)
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const weights = blockWeights(inputs, layer, config)
    const unit = (state: Tensor): Tensor => rmsNormalise(state, config.rms_norm_eps)
    const { mixed, keys, values } = attention(unit(x), weights, layer)
    x = add(x, projectOut(mixed, weights).y)
    const inner = unit(x)
    const hidden = swiglu(linear(inner, weights.gate).y, linear(inner, weights.up).y)
    x = add(x, linear(hidden.y, weights.down).y)
    outputs[`newKeys.${layer}`] = keys
    outputs[`newValues.${layer}`] = values
  }
  return { x, outputs }
}

const pastOf = (inputs: Inputs, layer: number): PastKeysValues => ({
  keys: inputs[`keys.${layer}`],
  values: inputs[`values.${layer}`],
  limits: inputs['pastLimits'],
})

/** Tempered distributions after hidden states [rows, width], and their logarithms but for a constant where asked for. */
function distribution(
  inputs: Inputs,
  hidden: Tensor,
  config: TransformerConfig,
  withLogits: boolean,
): Record<string, Tensor> {
  const unit = rmsNormalise(hidden, config.rms_norm_eps)
  // The states are narrower than the logits.
  const logits = linear(mul(unit, inputs['inverseTemperatures']), inputs['head']).y
  const probabilities = softmax(logits)
  return withLogits ? { probabilities, logits } : { probabilities }
}

/** How the programs of sampling are compiled. */
export interface SamplingProgramOptions {
  threads?: number
  /** Whether they give `logits` too, of the shape of the probabilities and tempered as these are. */
  logits?: boolean
}

/**
 * Reads the first C tokens of every row: `compilePrefill` without a cache, which would only be empty. Inputs as there,
 * but for keys, values and pastLimits.
 */
export function compilePrompt(
  config: TransformerConfig,
  { threads, logits = false }: SamplingProgramOptions = {},
): Promise<Program> {
  const build = (inputs: Inputs): Record<string, Tensor> =>
    readChunk(
      inputs,
      config,
      ({ q, k, v }) => attend(q, k, v, inputs['newLimits'], 'B', 'C', config).y,
      logits,
    )
  return compile(chunkInputs(config), build, named('prompt', threads))
}

/**
 * Reads C new tokens a row beside P cached positions, and gives back only the new keys and values (a whole cache would
 * be copied on its way out) and the distribution after chosen positions.
 *
 * Inputs besides the folded weights: tokens, positions int32 [B, C]; cosineTable, sineTable [M, width/2]; for each
 * layer `keys.L`, `values.L` [B, kvHeads, P, width]; pastLimits [B, 1, 1, P] and newLimits [C, C],
 * see `scoreLimits`; rows int32 [N] (flat positions b * C + c); inverseTemperatures [N, 1]. New tokens are right-padded, so that
 * the causal limits hide the padding. Outputs: `newKeys.L`, `newValues.L` [B, kvHeads, C, width], probabilities
 * [N, vocabulary].
 */
export function compilePrefill(
  config: TransformerConfig,
  { threads, logits = false }: SamplingProgramOptions = {},
): Promise<Program> {
  const build = (inputs: Inputs): Record<string, Tensor> =>
    readChunk(
      inputs,
      config,
      ({ q, k, v }, layer) => attendTwoParts(q, k, v, pastOf(inputs, layer), inputs['newLimits'], config),
      logits,
    )
  return compile({ ...chunkInputs(config), ...cacheInputs(config) }, build, named('prefill', threads))
}

function chunkInputs(config: TransformerConfig): Record<string, InputSpec> {
  return {
    ...commonInputs(config),
    tokens: { shape: ['B', 'C'], dtype: 'int32' },
    positions: { shape: ['B', 'C'], dtype: 'int32' },
    newLimits: { shape: ['C', 'C'] },
    rows: { shape: ['N'], dtype: 'int32' },
    inverseTemperatures: { shape: ['N', 1] },
  }
}

/** All blocks over the chunks [B, C], heads split for `mix`: from them to the mixed values [B*C, heads * width]. */
function readChunk(
  inputs: Inputs,
  config: TransformerConfig,
  mix: (heads: { q: Tensor; k: Tensor; v: Tensor }, layer: number) => Tensor,
  withLogits: boolean,
): Record<string, Tensor> {
  const rotary = { positions: inputs['positions'], cosine: inputs['cosineTable'], sine: inputs['sineTable'] }
  const tokens = reshape(inputs['tokens'], ['B*C'])
  const { x, outputs } = newTokens(inputs, tokens, config, (unit, weights, layer) => {
    const heads = projectHeads(unit, weights, rotary, 'B', 'C', config)
    return { mixed: mix(heads, layer), keys: heads.k, values: heads.v }
  })
  return { ...outputs, ...distribution(inputs, gather(x, inputs['rows'], 0), config, withLogits) }
}

const named = (name: string, threads: number | undefined) =>
  threads === undefined ? { name } : { name, threads }

/**
 * `compilePrefill` for one new token a row: tokens, positions int32 [B], inverseTemperatures [B, 1], no newLimits and rows,
 * distributions for every row. With one token no transposition is needed, and what it gives to itself is a product of vectors.
 */
export function compileDecode(
  config: TransformerConfig,
  { threads, logits = false }: SamplingProgramOptions = {},
): Promise<Program> {
  const specs: Record<string, InputSpec> = {
    ...commonInputs(config),
    ...cacheInputs(config),
    tokens: { shape: ['B'], dtype: 'int32' },
    positions: { shape: ['B'], dtype: 'int32' },
    inverseTemperatures: { shape: ['B', 1] },
  }
  const build = (inputs: Inputs): Record<string, Tensor> => {
    const attention: Attention = (unit, weights, layer) => {
      const projected = linear(unit, weights.qkv).y
      const shifted = weights.qkvBias === undefined ? projected : add(projected, weights.qkvBias)
      return attendOne(shifted, weights, inputs, pastOf(inputs, layer), config)
    }
    const { x, outputs } = newTokens(inputs, inputs['tokens'], config, attention)
    return { ...outputs, ...distribution(inputs, x, config, logits) }
  }
  return compile(specs, build, named('decode', threads))
}

/** q: [B, heads, C, width]; k, v: [B, kvHeads, C, width]. One softmax over cached and new positions. */
function attendTwoParts(
  q: Tensor,
  k: Tensor,
  v: Tensor,
  past: PastKeysValues,
  newLimits: Tensor,
  config: TransformerConfig,
): Tensor {
  const width = headWidth(config)
  const heads = config.num_attention_heads
  const shared = config.num_key_value_heads
  const group = heads / shared
  const rows = group === 1 ? 'C' : `${group}*C`
  const fold = (x: Tensor, last: Dim): Tensor => (group === 1 ? x : reshape(x, ['B', shared, rows, last]))
  // The new part's limits differ by position, so the folded rows are taken apart for it.
  const apart = (x: Tensor, parts: number, last: Dim): Tensor =>
    group === 1 ? x : reshape(x, ['B', shared, parts, 'C', last])
  const queries = fold(q, width)
  const own = ownScores(apart(q, group, width), apart(k, 1, width))
  const pastScores = limited(matmul(queries, past.keys, { transposeB: true }), past.limits, fold(own, 1))
  const newApart = apart(matmul(queries, k, { transposeB: true }), group, 'C')
  const newScores = fold(limited(newApart, newLimits, own), 'C')
  const probabilities = softmax(concat([pastScores, newScores], 3))
  const mixed = add(
    matmul(slice(probabilities, { axis: 3, start: 0, end: 'P' }), past.values),
    matmul(slice(probabilities, { axis: 3, start: 'P', end: 'C+P' }), v),
  )
  const headsApart = group === 1 ? mixed : reshape(mixed, ['B', heads, 'C', width])
  return reshape(transpose(headsApart, [0, 2, 1, 3]), ['B*C', heads * width])
}

/** projected: [B, (heads + 2 * kvHeads) * width]. */
function attendOne(
  projected: Tensor,
  { queryNorm, keyNorm }: BlockWeights,
  inputs: Inputs,
  past: PastKeysValues,
  config: TransformerConfig,
): { mixed: Tensor; keys: Tensor; values: Tensor } {
  const width = headWidth(config)
  const heads = config.num_attention_heads
  const shared = config.num_key_value_heads
  const turning = (heads + shared) * width
  const normalised = (start: number, count: number, gain: Tensor): Tensor => {
    const rows = slice(projected, { axis: 1, start: start * width, end: (start + count) * width })
    return mul(rmsNormalise(reshape(rows, ['B', count, width]), config.rms_norm_eps), gain)
  }
  const unturned =
    queryNorm === undefined || keyNorm === undefined
      ? slice(projected, { axis: 1, start: 0, end: turning })
      : concat([normalised(0, heads, queryNorm), normalised(heads, shared, keyNorm)], 1)
  const turned = rotate(
    reshape(unturned, ['B', 1, turning]),
    reshape(inputs['positions'], ['B', 1]),
    inputs['cosineTable'],
    inputs['sineTable'],
  )
  const part = (x: Tensor, start: number, end: number, rows: number): Tensor =>
    reshape(slice(x, { axis: x.shape.length - 1, start: start * width, end: end * width }), [
      'B',
      shared,
      rows,
      width,
    ])
  const q = part(turned, 0, heads, heads / shared)
  const k = part(turned, heads, heads + shared, 1)
  const v = part(projected, heads + shared, heads + 2 * shared, 1)
  const own = ownScores(q, k)
  const pastScores = limited(matmul(q, past.keys, { transposeB: true }), past.limits, own)
  const probabilities = softmax(concat([pastScores, own], 3))
  const mixed = add(
    matmul(slice(probabilities, { axis: 3, start: 0, end: 'P' }), past.values),
    mul(slice(probabilities, { axis: 3, start: 'P', end: '1+P' }), v),
  )
  return { mixed: reshape(mixed, ['B', heads * width]), keys: k, values: v }
}
