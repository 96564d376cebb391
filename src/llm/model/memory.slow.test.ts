import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { makeBatches } from './batches.ts'
import { attentionBlocks } from './blockwise-attention.ts'

const run = promisify(execFile)
const child = fileURLToPath(new URL('../../../bench/training-memory-child.ts', import.meta.url))

const flags = ['--import', 'tsx', '--conditions', 'agoge-source']

/** Peak of a training step in a process of its own, and the estimate, in MB. */
async function peakOf(sizes: number[], recompute: boolean): Promise<{ peak: number; estimate: number }> {
  const { stdout } = await run(process.execPath, [...flags, child, JSON.stringify({ sizes, recompute })])
  return JSON.parse(stdout) as { peak: number; estimate: number }
}

// The peak is read from /proc.
test.skipIf(process.platform !== 'linux')(
  'estimates of memory are near measured peaks, and recomputing saves most of the activations',
  async () => {
    const sizes = [128, 4, 1024, 1, 2048]
    const [whole, byBlock] = await Promise.all([peakOf(sizes, false), peakOf(sizes, true)])
    for (const { peak, estimate } of [whole, byBlock]) {
      expect(estimate / peak).toBeGreaterThan(0.6)
      expect(estimate / peak).toBeLessThan(1.6)
    }
    expect(byBlock.peak).toBeLessThan(0.75 * whole.peak)
  },
)

test.skipIf(process.platform !== 'linux')(
  'a stated memory is for all lengths together: programs for rows of one length keep nothing beside those of another',
  async () => {
    const mixed = fileURLToPath(new URL('../testing/memory-of-lengths.ts', import.meta.url))
    const { stdout } = await run(process.execPath, [...flags, mixed])
    const { peak, stated } = JSON.parse(stdout) as { peak: number; stated: number }
    expect(peak / stated).toBeLessThan(1.9)
  },
)

test('the memory estimate of a row includes its attention blocks', () => {
  for (const length of [400, 512, 1021, 1024, 1025, 2000]) {
    const [batch] = makeBatches([new Int32Array(length)], 1, () => true)
    expect(attentionBlocks(batch.time), `${length}`).toBe(batch.blocks)
    expect(batch.time % batch.blocks).toBe(0)
  }
})
