import { createLocalBackend, smallConfig } from 'agoge/unstable/language'
import type { Measurement } from './alternate.ts'

/** Lengths of the sequences of a step of `agoge train` (seed 1), and a skewed set: one of 1000 among many of 16 to 79. */
const steps: Record<string, number[]> = {
  'main job': [
    85, 85, 85, 85, 85, 85, 85, 85, 163, 160, 163, 169, 117, 117, 117, 117, 163, 163, 163, 163, 163, 163, 163,
    163, 103, 103, 103, 103, 103, 103, 103, 103, 136, 136, 136, 146, 166, 93, 146, 146, 153, 153, 153, 153,
    153, 153, 153, 151, 174, 98, 103, 104, 98, 109, 137, 103, 177, 177, 177, 177, 177, 177, 177, 177,
  ],
  skewed: [1000, ...Array.from({ length: 63 }, (_, i) => 16 + ((i * 37) % 64))],
}

/**
 * Whether packing several sequences in a row would pay: seconds of the processor for a step's gradients over sequences padded to the longest
 * of their micro-batch, as the learner does it, against rows of 256, 512 and 1024 tokens that are filled to the last one (the lower bound
 * of what packed rows take: the block-diagonal limits would come on top). A ratio above 1 means that packing would be quicker.
 */
export async function packing(): Promise<Measurement[]> {
  const backend = createLocalBackend({
    config: { ...smallConfig, max_position_embeddings: 1025 },
    threads: 1,
  })
  const found: Measurement[] = []
  for (const [name, lengths] of Object.entries(steps)) {
    const total = lengths.reduce((sum, length) => sum + length, 0)
    const longest = Math.max(...lengths)
    const rows = [256, 512, 1024].filter((length) => length >= longest)
    const ways = [
      lengths,
      ...rows.map((length) => Array<number>(Math.round(total / length)).fill(length + 1)),
    ]
    const times: number[][] = ways.map(() => [])
    for (let round = -1; round < 3; round++)
      for (const [i, way] of ways.entries()) {
        const begin = process.cpuUsage()
        await backend.forwardBackward(way.map(sequenceOf), { name: 'cross_entropy' })
        const { user, system } = process.cpuUsage(begin)
        // A rate a token, since rows are filled up to whole ones.
        const tokens = way.reduce((sum, length) => sum + length, 0)
        if (round >= 0) times[i].push((user + system) / 1e6 / tokens)
      }
    const [padded, ...packed] = times.map((values) => values.toSorted((a, b) => a - b)[1])
    packed.forEach((seconds, i) =>
      found.push({
        name: `packing ${name}, rows of ${rows[i]}`,
        ours: 1 / padded,
        peer: 1 / seconds,
        ratio: padded / seconds,
        unit: 'tokens/s of processor time, padded (peer: packed)',
      }),
    )
  }
  return found
}

function sequenceOf(length: number) {
  const zeros = (): Float32Array => new Float32Array(length)
  return {
    tokens: Int32Array.from({ length }, (_, t) => (t * 7919) % 1024),
    logprobs: zeros(),
    advantages: zeros(),
    weights: { rl: zeros(), ce: zeros().fill(1e-3), kl: zeros() },
  }
}
