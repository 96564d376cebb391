import { createLocalBackend, initialiseParameters } from 'agoge/llm'
import type { Measurement } from './alternate.ts'
import { grownConfig } from './model-sizes.ts'

interface Case {
  name: string
  /** Width and layers. */
  model: readonly [number, number]
  lengths: number[]
  rows: number[]
}

/** 8 to 200 tokens, most of them short. */
const tailed = Array.from({ length: 32 }, (_, i) => 8 + Math.round(192 * (i / 31) ** 3))

const cases: Case[] = [
  {
    // A step of `agoge train` (seed 1).
    name: 'main job 0.9M',
    model: [128, 4],
    lengths: [
      85, 85, 85, 85, 85, 85, 85, 85, 163, 160, 163, 169, 117, 117, 117, 117, 163, 163, 163, 163, 163, 163,
      163, 163, 103, 103, 103, 103, 103, 103, 103, 103, 136, 136, 136, 146, 166, 93, 146, 146, 153, 153, 153,
      153, 153, 153, 153, 151, 174, 98, 103, 104, 98, 109, 137, 103, 177, 177, 177, 177, 177, 177, 177, 177,
    ],
    rows: [256, 512],
  },
  {
    // One sequence of 1000 tokens among many of 16 to 79.
    name: 'skewed 0.9M',
    model: [128, 4],
    lengths: [1000, ...Array.from({ length: 63 }, (_, i) => 16 + ((i * 37) % 64))],
    rows: [256, 1024],
  },
  { name: 'tailed 0.9M', model: [128, 4], lengths: tailed, rows: [256, 512] },
  { name: 'tailed 5M', model: [256, 6], lengths: tailed, rows: [256, 512] },
  { name: 'tailed 26M', model: [512, 8], lengths: tailed, rows: [256, 512] },
]

// For a short test: AGOGE_BENCH_LARGEST=2e6 AGOGE_BENCH_ROUNDS=1
const largest = Number(process.env['AGOGE_BENCH_LARGEST'] ?? Infinity)
const rounds = Number(process.env['AGOGE_BENCH_ROUNDS'] ?? 5)

/**
 * Loss and gradients of packed sequences, against the same sequences padded to the longest of their micro-batch (the peer). One
 * thread. Measures tokens without padding, per second of processor time and of wall-clock time. A ratio above 1 means that
 * packing is faster.
 */
export async function packing(): Promise<Measurement[]> {
  const found: Measurement[] = []
  for (const { name, model, lengths, rows } of cases) {
    const config = grownConfig(...model)
    const parameters = initialiseParameters(config, 1)
    if (parameters.layout.size > largest) continue
    const sequences = lengths.map(sequenceOf)
    const tokens = lengths.reduce((sum, length) => sum + length, 0)
    const backends = [undefined, ...rows].map((row) =>
      createLocalBackend({ config, parameters, threads: 1, ...(row === undefined ? {} : { packing: row }) }),
    )
    const rates: Record<'processor' | 'clock', number[]>[] = backends.map(() => ({
      processor: [],
      clock: [],
    }))
    for (let round = -1; round < rounds; round++)
      for (const [i, backend] of backends.entries()) {
        const [usage, begin] = [process.cpuUsage(), performance.now()]
        await backend.forwardBackward(sequences, { name: 'cross_entropy' })
        const clock = (performance.now() - begin) / 1e3
        const { user, system } = process.cpuUsage(usage)
        // The first round compiles.
        if (round < 0) continue
        rates[i].processor.push((tokens * 1e6) / (user + system))
        rates[i].clock.push(tokens / clock)
      }
    await Promise.all(backends.map((backend) => backend.dispose()))
    const [padded, ...packed] = rates
    for (const by of ['processor', 'clock'] as const)
      packed.forEach((each, i) =>
        found.push({
          name: `packing ${name}, rows of ${rows[i]}`,
          ours: median(each[by]),
          peer: median(padded[by]),
          ratio: median(each[by].map((rate, round) => rate / padded[by][round])),
          unit: `tokens/s by the ${by} (peer: padded)`,
        }),
      )
  }
  return found
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]

function sequenceOf(length: number) {
  const zeros = (): Float32Array => new Float32Array(length)
  return {
    tokens: Int32Array.from({ length }, (_, t) => (t * 7919) % 1024),
    logprobs: zeros(),
    advantages: zeros(),
    weights: { rl: zeros(), ce: zeros().fill(1e-3), kl: zeros() },
  }
}
