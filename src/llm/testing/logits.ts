import { causalLimits, rotaryTable } from '../model/attention.ts'
import type { TransformerConfig } from '../model/config.ts'
import { createFolding } from '../model/folded-weights.ts'
import type { Parameters } from '../model/parameters.ts'
import { compileLogits } from '../model/programs.ts'

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
