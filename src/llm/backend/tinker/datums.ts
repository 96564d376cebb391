import type { TrainingSequence } from '../../episode/types.ts'
import type { Datum, TensorData } from './wire.ts'

/**
 * A sequence as the protocol has it: what the model reads is all but its last token, the targets all but its first, and
 * index i of everything speaks of token i + 1 of the sequence. `inputs` are per token of the sequence, and cut likewise.
 */
export function toDatum(tokens: Int32Array, inputs: Readonly<Record<string, Float32Array>>): Datum {
  const length = tokens.length - 1
  const shifted = Object.entries(inputs).map(([name, values]): [string, TensorData] => [
    name,
    { data: values.subarray(1), dtype: 'float32', shape: [length] },
  ])
  return {
    model_input: { chunks: [{ type: 'encoded_text', tokens: tokens.subarray(0, length) }] },
    loss_fn_inputs: {
      target_tokens: { data: tokens.subarray(1), dtype: 'int64', shape: [length] },
      ...Object.fromEntries(shifted),
    },
  }
}

/** What the server speaks of targets, laid out over the tokens again; index 0 is 0. */
export function fromTargets(values: ArrayLike<number>, length: number): Float32Array {
  const all = new Float32Array(length)
  all.set(values, 1)
  return all
}

/** The number of sequences that go into each request, so that none has more rows or bytes (as the SDK estimates them) than the server wants. */
export function chunkSizes(
  sequences: readonly { tokens: Int32Array }[],
  { rows, bytes }: { rows: number; bytes: number },
): number[] {
  // Tokens of 4 bytes, targets of 8, and up to six inputs of 4.
  const bytesPerToken = 36
  const sizes: number[] = []
  let filled = 0
  for (const { tokens } of sequences) {
    const more = tokens.length * bytesPerToken
    const last = sizes.at(-1)
    if (last === undefined || last === rows || filled + more > bytes) {
      sizes.push(1)
      filled = more
    } else {
      sizes[sizes.length - 1] = last + 1
      filled += more
    }
  }
  return sizes
}

export type WeightName = keyof TrainingSequence['weights']

export function hasWeights(sequences: readonly TrainingSequence[], name: WeightName): boolean {
  return sequences.some(({ weights }) => weights[name].some((weight) => weight !== 0))
}
