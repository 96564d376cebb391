import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import type { Measurement } from './alternate.ts'
import { logPlot } from './log-plot.ts'
import { grownConfig, modelSizes, parameterCount } from './model-sizes.ts'
import { trainStepOf } from './train-step.ts'

interface Point {
  x: number
  label: string
  measured: Measurement
}

// For a short test: AGOGE_BENCH_LARGEST=2e6 AGOGE_BENCH_ROUNDS=1 AGOGE_BENCH_OUT=/tmp/growth
const largest = Number(process.env['AGOGE_BENCH_LARGEST'] ?? Infinity)
const rounds = Number(process.env['AGOGE_BENCH_ROUNDS'] ?? 5)
const out = process.env['AGOGE_BENCH_OUT'] ?? 'docs'

/**
 * Cost of a training step in microseconds per token, for growing models (8x128 tokens) and for growing sequences (4096 tokens in
 * total, the small model). Writes `results/growth.md` and `images/growth.svg` under `docs` or the folder `AGOGE_BENCH_OUT`.
 */
export async function growth(): Promise<Measurement[]> {
  const bySize: Point[] = []
  for (const [width, layers] of modelSizes) {
    const config = grownConfig(width, layers)
    const size = parameterCount(config)
    if (size > largest) break
    const count = Math.max(2, Math.round(1e7 / size))
    const name = `growth-${(size / 1e6).toFixed(1)}M`
    const measured = await trainStepOf({ name, config, rows: 8, length: 128, count, rounds })
    bySize.push({ x: size, label: `${(size / 1e6).toFixed(1)}M`, measured })
  }
  const byLength: Point[] = []
  for (const length of [64, 128, 256, 512, 1024, 2048, 4096]) {
    if (length > largest / 1000) break
    const config = grownConfig(128, 4, 4097)
    const measured = await trainStepOf({
      name: `growth-length-${length}`,
      config,
      rows: 4096 / length,
      length,
      // The first steps of either side are slow.
      count: length <= 1024 ? 8 : 3,
      rounds,
    })
    byLength.push({ x: length, label: String(length), measured })
  }
  for (const folder of ['results', 'images']) mkdirSync(join(out, folder), { recursive: true })
  writeFileSync(join(out, 'results', 'growth.md'), page(bySize, byLength))
  const curves = (points: Point[]) => [
    { name: 'Agoge', points: points.map(({ x, measured }) => ({ x, y: 1e6 / measured.ours })) },
    ...(points[0]?.measured.peer == null
      ? []
      : [{ name: 'PyTorch', points: points.map(({ x, measured }) => ({ x, y: 1e6 / measured.peer! })) }]),
  ]
  const panels = [
    { title: 'as the model grows', x: 'parameters', curves: curves(bySize) },
    { title: 'as sequences grow', x: 'tokens of a sequence', curves: curves(byLength) },
  ]
  writeFileSync(join(out, 'images', 'growth.svg'), logPlot('microseconds a token', panels))
  return [...bySize, ...byLength].map(({ measured }) => measured)
}

function page(bySize: Point[], byLength: Point[]): string {
  const table = (first: string, points: Point[]): string =>
    [
      `| ${first} | microseconds a token | PyTorch | ratio |`,
      '| --- | --- | --- | --- |',
      ...points.map(
        ({ label, measured: { ours, peer, ratio } }) =>
          `| ${label} | ${perToken(ours)} | ${peer === null ? '' : perToken(peer)} | ${ratio?.toFixed(2) ?? ''} |`,
      ),
    ].join('\n')
  return `# What a training step costs as things grow

\`npm run bench -- growth\` made this page on ${new Date().toISOString().slice(0, 10)}, on ${cpus().length} cores of an ${cpus()[0].model}: a step is forward,
backward and AdamW of the llama architecture with a vocabulary of 1024; medians of ${rounds} rounds that alternate with PyTorch at its
better of one and two threads. A ratio above 1 means that Agoge is faster.

![microseconds a token](../images/growth.svg)

Models of growing size on 8 x 128 tokens:

${table('parameters', bySize)}

The small model on 4096 tokens in sequences of growing length:

${table('tokens of a sequence', byLength)}
`
}

/** Converts a rate to microseconds per token, with three digits. */
const perToken = (rate: number): string => String(Number((1e6 / rate).toPrecision(3)))
