import {
  add,
  compile,
  gather,
  mul,
  quantisedMatmul,
  reshape,
  rmsNormalise,
  softmax,
} from '../../engine/tensor/index.ts'
import type { Dim, InputSpec, Program, Tensor } from '../../engine/tensor/index.ts'
import { attend, projectHeads } from '../model/attention.ts'
import { blockWeights } from '../model/block.ts'
import type { BlockWeights } from '../model/block.ts'
import { headWidth } from '../model/config.ts'
import type { TransformerConfig } from '../model/config.ts'
import { foldedInputs } from '../model/folded-weights.ts'
import { linear, swiglu } from '../model/layers.ts'
import { quantisedInputs, type SamplingWeights, scalesOf } from './quantised-weights.ts'
import { attendOne, attendTwoParts, splitHeads } from './sampling-attention.ts'
import type { PastKeysValues } from './sampling-attention.ts'

type Inputs = Record<string, Tensor>

/**
 * Attention of the new tokens in a layer, from their normalised states. Returns the mix [tokens, heads * width] and new
 * keys and values.
 */
type Attention = (
  unit: Tensor,
  weights: BlockWeights,
  layer: number,
) => { mixed: Tensor; keys: Tensor; values: Tensor }

/** What all programs are built from. */
interface Build {
  inputs: Inputs
  config: TransformerConfig
  weights: SamplingWeights
}

/** x [tokens, in] times the transpose of the named weights. */
function product({ inputs, weights }: Build, x: Tensor, name: string): Tensor {
  return weights === 'int8'
    ? quantisedMatmul(x, inputs[name], inputs[scalesOf(name)])
    : linear(x, inputs[name]).y
}

/** The same with the bias that some families have. */
function biasedProduct(build: Build, x: Tensor, name: string): Tensor {
  const bias = build.inputs[`${name}Bias`]
  return bias === undefined ? product(build, x, name) : add(product(build, x, name), bias)
}

function commonInputs(config: TransformerConfig, weights: SamplingWeights): Record<string, InputSpec> {
  const half = headWidth(config) / 2
  return {
    ...(weights === 'int8' ? quantisedInputs(config) : foldedInputs(config)),
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
function newTokens(build: Build, tokens: Tensor, attention: Attention) {
  const { inputs, config } = build
  const outputs: Record<string, Tensor> = {}
  let x = gather(inputs['embedding'], tokens, 0)
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const unit = (state: Tensor): Tensor => rmsNormalise(state, config.rms_norm_eps)
    const { mixed, keys, values } = attention(unit(x), blockWeights(inputs, layer, config), layer)
    x = add(x, biasedProduct(build, mixed, `${layer}.out`))
    const inner = unit(x)
    const hidden = swiglu(product(build, inner, `${layer}.gate`), product(build, inner, `${layer}.up`))
    x = add(x, product(build, hidden.y, `${layer}.down`))
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

/** Tempered distributions from hidden states [rows, width]; if requested also their logarithms up to a constant. */
function distribution(build: Build, hidden: Tensor, withLogits: boolean): Record<string, Tensor> {
  const unit = rmsNormalise(hidden, build.config.rms_norm_eps)
  // The states are narrower than the logits.
  const logits = product(build, mul(unit, build.inputs['inverseTemperatures']), 'head')
  const probabilities = softmax(logits)
  return withLogits ? { probabilities, logits } : { probabilities }
}

/** How sampling programs are compiled. */
export interface SamplingProgramOptions {
  threads?: number
  /** Whether to also output tempered `logits`, in the shape of the probabilities. */
  logits?: boolean
  /** Precision of the matrices. Default: `float32`. For `int8` the inputs are those of `quantisedInputs`. */
  weights?: SamplingWeights
}

/**
 * Reads the first C tokens of every row: `compilePrefill` without a cache. The same inputs except keys, values and
 * pastLimits.
 */
export function compilePrompt(
  config: TransformerConfig,
  { threads, logits = false, weights = 'float32' }: SamplingProgramOptions = {},
): Promise<Program> {
  const build = (inputs: Inputs): Record<string, Tensor> =>
    readChunk(
      { inputs, config, weights },
      ({ q, k, v }) => attend(q, k, v, inputs['newLimits'], 'B', 'C', config).y,
      logits,
    )
  return compile(chunkInputs(config, weights), build, named('prompt', threads))
}

/**
 * Reads C new tokens per row after P cached positions. Returns only the new keys and values (returning a whole cache
 * would copy it) and the distribution after selected positions.
 *
 * Inputs besides the folded weights: tokens, positions int32 [B, C]; cosineTable, sineTable [M, width/2]; for each
 * layer `keys.L`, `values.L` [B, kvHeads, P, width]; pastLimits [B, 1, 1, P] and newLimits [C, C], see `scoreLimits`;
 * rows int32 [N] (flat positions b * C + c); inverseTemperatures [N, 1]. New tokens are right-padded, so that the
 * causal limits hide the padding. Outputs: `newKeys.L`, `newValues.L` [B, kvHeads, C, width], probabilities [N,
 * vocabulary].
 */
export function compilePrefill(
  config: TransformerConfig,
  { threads, logits = false, weights = 'float32' }: SamplingProgramOptions = {},
): Promise<Program> {
  const build = (inputs: Inputs): Record<string, Tensor> =>
    readChunk(
      { inputs, config, weights },
      ({ q, k, v }, layer) => attendTwoParts(q, k, v, pastOf(inputs, layer), inputs['newLimits'], config),
      logits,
    )
  const specs = { ...chunkInputs(config, weights), ...cacheInputs(config) }
  return compile(specs, build, named('prefill', threads))
}

function chunkInputs(config: TransformerConfig, weights: SamplingWeights): Record<string, InputSpec> {
  return {
    ...commonInputs(config, weights),
    tokens: { shape: ['B', 'C'], dtype: 'int32' },
    positions: { shape: ['B', 'C'], dtype: 'int32' },
    newLimits: { shape: ['C', 'C'] },
    rows: { shape: ['N'], dtype: 'int32' },
    inverseTemperatures: { shape: ['N', 1] },
  }
}

/** All blocks over the chunks [B, C]. `mix` maps split heads to the mixed values [B*C, heads * width]. */
function readChunk(
  build: Build,
  mix: (heads: { q: Tensor; k: Tensor; v: Tensor }, layer: number) => Tensor,
  withLogits: boolean,
): Record<string, Tensor> {
  const { inputs, config, weights } = build
  const rotary = { positions: inputs['positions'], cosine: inputs['cosineTable'], sine: inputs['sineTable'] }
  const tokens = reshape(inputs['tokens'], ['B*C'])
  const { x, outputs } = newTokens(build, tokens, (unit, ofBlock, layer) => {
    const heads =
      weights === 'int8'
        ? splitHeads(biasedProduct(build, unit, `${layer}.qkv`), ofBlock, rotary, config)
        : projectHeads(unit, ofBlock, rotary, 'B', 'C', config)
    return { mixed: mix(heads, layer), keys: heads.k, values: heads.v }
  })
  return { ...outputs, ...distribution(build, gather(x, inputs['rows'], 0), withLogits) }
}

const named = (name: string, threads: number | undefined) =>
  threads === undefined ? { name } : { name, threads }

/**
 * `compilePrefill` for one new token per row: tokens, positions int32 [B], inverseTemperatures [B, 1], no newLimits and
 * rows, a distribution for every row. With one token there is no transposition, and its score with itself is a product
 * of vectors.
 */
export function compileDecode(
  config: TransformerConfig,
  { threads, logits = false, weights = 'float32' }: SamplingProgramOptions = {},
): Promise<Program> {
  const specs: Record<string, InputSpec> = {
    ...commonInputs(config, weights),
    ...cacheInputs(config),
    tokens: { shape: ['B'], dtype: 'int32' },
    positions: { shape: ['B'], dtype: 'int32' },
    inverseTemperatures: { shape: ['B', 1] },
  }
  const trace = (inputs: Inputs): Record<string, Tensor> => {
    const build = { inputs, config, weights }
    const attention: Attention = (unit, ofBlock, layer) => {
      const projected = biasedProduct(build, unit, `${layer}.qkv`)
      return attendOne(projected, ofBlock, inputs, pastOf(inputs, layer), config)
    }
    const { x, outputs } = newTokens(build, inputs['tokens'], attention)
    return { ...outputs, ...distribution(build, x, logits) }
  }
  return compile(specs, trace, named('decode', threads))
}
