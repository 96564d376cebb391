import type { TrainingSequence } from '../episode/types.ts'
import { causalLimits, rotaryTable } from '../model/attention.ts'
import { smallConfig } from '../model/config.ts'
import type { TransformerConfig } from '../model/config.ts'
import { createFolding } from '../model/folded-weights.ts'
import type { Parameters } from '../model/parameters.ts'
import { compileLogits } from '../model/programs.ts'

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

/** Logits [rows, time, vocabulary] after every token of sequences of one length. */
export async function logitsOf(
  { config, parameters }: { config: TransformerConfig; parameters: Parameters },
  tokens: number[][],
): Promise<Float32Array> {
  const program = await compileLogits(config)
  const [batch, time] = [tokens.length, tokens[0].length]
  const table = rotaryTable(config, time)
  const half = table.cosine.length / time
  const count = batch * time
  const { logits } = await program.run({
    ...createFolding(parameters, config)(),
    tokens: { data: Int32Array.from(tokens.flat()), shape: [batch, time] },
    positions: { data: Int32Array.from({ length: count }, (_, i) => i % time), shape: [batch, time] },
    cosineTable: { data: table.cosine, shape: [time, half] },
    sineTable: { data: table.sine, shape: [time, half] },
    limits: { data: causalLimits(time), shape: [time, time] },
    rows: { data: Int32Array.from({ length: count }, (_, i) => i), shape: [count] },
  })
  await program.release()
  return logits.data as Float32Array
}

/** A sequence all of whose next tokens count alike. */
export function crossEntropy(tokens: ArrayLike<number>, weight = 1): TrainingSequence {
  const zeros = () => new Float32Array(tokens.length)
  const weights = { rl: zeros(), ce: zeros().fill(weight), kl: zeros() }
  return { tokens: Int32Array.from(tokens), logprobs: zeros(), advantages: zeros(), weights }
}
