import { AgogeError } from '../../error.ts'
import { smallConfig, type TransformerConfig } from '../model/config.ts'

/** Shapes of base models, by their millions of parameters. All have heads of 32 and feed-forward layers 2.75 times as wide. */
const shapes = {
  '0.9M': { hidden_size: 128, num_hidden_layers: 4, intermediate_size: 352, vocab_size: 1024 },
  '2M': { hidden_size: 192, num_hidden_layers: 4, intermediate_size: 528, vocab_size: 1024 },
  '4M': { hidden_size: 256, num_hidden_layers: 4, intermediate_size: 704, vocab_size: 2048 },
  '6M': { hidden_size: 256, num_hidden_layers: 7, intermediate_size: 704, vocab_size: 2048 },
} as const

export type ModelSize = keyof typeof shapes
export const modelSizes = Object.keys(shapes) as ModelSize[]

/**
 * The architecture of a base model.
 *
 * @param context tokens of the context window, a multiple of 64. Default: 1024.
 * @throws AgogeError `bad-argument` if there is no such size, or the context is outside of 256 to 8192.
 * @example
 * sizedConfig('4M', 2048).max_position_embeddings // 2048
 */
export function sizedConfig(size: ModelSize = '0.9M', context = 1024): TransformerConfig {
  if (!Object.hasOwn(shapes, size))
    throw new AgogeError('there is no such model size', {
      code: 'bad-argument',
      given: size,
      expected: modelSizes.join(', '),
    })
  if (!Number.isInteger(context) || context < 256 || context > 8192 || context % 64 !== 0)
    throw new AgogeError('the context cannot be used', {
      code: 'bad-argument',
      given: context,
      expected: 'a multiple of 64 from 256 to 8192, for instance 2048',
    })
  const { hidden_size } = shapes[size]
  const heads = hidden_size / 32
  return {
    ...smallConfig,
    ...shapes[size],
    num_attention_heads: heads,
    num_key_value_heads: heads,
    max_position_embeddings: context,
  }
}
