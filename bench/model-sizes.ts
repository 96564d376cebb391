import { parameterLayout, smallConfig } from 'agoge/llm'
import type { TransformerConfig } from 'agoge/llm'

/** The small model scaled to `width`, with heads 64 wide (32 for the small one) and a gated layer 2.75 times as wide. */
export function grownConfig(width: number, layers: number, window = 1024): TransformerConfig {
  const heads = width / (width <= 128 ? 32 : 64)
  return {
    ...smallConfig,
    hidden_size: width,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    num_key_value_heads: heads,
    intermediate_size: 2.75 * width,
    max_position_embeddings: window,
  }
}

/** From 0.9M to 102M parameters: width and layers. */
export const modelSizes = [
  [128, 4],
  [192, 5],
  [256, 6],
  [384, 8],
  [512, 8],
  [640, 11],
  [768, 14],
] as const

export const parameterCount = (config: TransformerConfig): number => parameterLayout(config).size
