import { smallConfig } from '../model/config.ts'

/** A model small enough to run in several threads of a test. */
export const tinyConfig = {
  ...smallConfig,
  vocab_size: 64,
  hidden_size: 16,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  intermediate_size: 24,
  max_position_embeddings: 64,
}
