import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const child = fileURLToPath(new URL('../../bench/training-memory-child.ts', import.meta.url))

/** Peak of a training step in a process of its own, and the estimate, in MB. */
async function peakOf(sizes: number[], recompute: boolean): Promise<{ peak: number; estimate: number }> {
  const flags = ['--import', 'tsx', '--conditions', 'agoge-source']
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
  60_000,
)
