import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Measurement } from './alternate.ts'

// Width, layers, vocabulary, rows, length.
const cases = [
  [128, 4, 1024, 32, 128],
  [128, 4, 1024, 1, 4096],
  [128, 4, 16_384, 8, 128],
  [512, 8, 1024, 8, 128],
  [512, 8, 1024, 4, 512],
]

/**
 * Peak memory of a training step in a separate process, in MB above its memory with only the weights. The peer is the estimate
 * of `standingBytes` and `activationBytes`. Linux only.
 */
export async function trainingMemory(): Promise<Measurement[]> {
  const child = fileURLToPath(new URL('training-memory-child.ts', import.meta.url))
  return cases.flatMap((sizes) =>
    [false, true].map((recompute) => {
      const text = execFileSync(
        process.execPath,
        [...process.execArgv, child, JSON.stringify({ sizes, recompute })],
        { encoding: 'utf8' },
      )
      const { peak, estimate } = JSON.parse(text) as { peak: number; estimate: number }
      const name = `training-memory ${sizes.join('x')}${recompute ? ' by block' : ''}`
      return { name, ours: peak, peer: estimate, ratio: estimate / peak, unit: 'MB (peer: estimate)' }
    }),
  )
}
