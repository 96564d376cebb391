import { AgogeError } from '../../error.ts'
import { broadcastTo, constant, greater, iota, reshape, toOnnx, where } from '../../engine/tensor/index.ts'
import type { Tensor } from '../../engine/tensor/index.ts'
import { rotaryTable, scoreLimits } from './attention.ts'
import type { TransformerConfig } from './config.ts'
import { createFolding } from './folded-weights.ts'
import { logits } from './head.ts'
import type { Parameters } from './parameters.ts'
import { trunk } from './programs.ts'

/** Largest size of a protocol buffer, minus room for the tables. */
const mostBytes = 2 ** 31 - 2 ** 24

/**
 * Exports the model as one ONNX file, weights included: `input_ids` int32 [batch, sequence] -> `logits` float32 [batch,
 * sequence, vocabulary], with the logits at position t predicting token t + 1. Any batch size, and any length up to the
 * model's window. Pad shorter rows on the right with any token, which no real token can see. The file runs in ONNX
 * Runtime 1.20 and later, without Agoge. It has no cache of keys and values, so generating a token costs a whole pass.
 *
 * @throws AgogeError `model-too-large` beyond 2 GB.
 */
export function exportOnnx({
  config,
  parameters,
}: {
  config: TransformerConfig
  parameters: Parameters
}): Uint8Array {
  const bytes = parameters.layout.size * 4
  if (bytes > mostBytes) {
    throw new AgogeError('The model is too large for one ONNX file.', {
      code: 'model-too-large',
      given: `${(bytes / 1e9).toFixed(1)} GB of weights`,
      expected: 'at most 2.1 GB',
      hint: 'Export it as a checkpoint instead (--to merged).',
    })
  }
  const weights = Object.fromEntries(
    Object.entries(createFolding(parameters, config)()).map(([name, { data, shape }]) => [
      name,
      constant(data as Float32Array, [...shape]),
    ]),
  )
  const window = config.max_position_embeddings
  const table = rotaryTable(config, window)
  const half = table.cosine.length / window
  return toOnnx('model', { input_ids: { shape: ['B', 'T'], dtype: 'int32' } }, ({ input_ids: tokens }) => {
    const steps = iota('T')
    const inputs: Record<string, Tensor> = {
      ...weights,
      tokens,
      positions: broadcastTo(steps, ['B', 'T']),
      cosineTable: constant(table.cosine, [window, half]),
      sineTable: constant(table.sine, [window, half]),
      limits: where(
        greater(reshape(steps, [1, 'T']), reshape(steps, ['T', 1])),
        scoreLimits.hidden,
        scoreLimits.visible,
      ),
    }
    const all = logits(trunk(inputs, config).y, inputs['head'], config)
    return { logits: reshape(all, ['B', 'T', config.vocab_size]) }
  })
}
