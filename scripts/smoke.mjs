// Runs the main job in about a minute. Held-out success must rise, and the intervals before and after must not overlap.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const out = mkdtempSync(join(tmpdir(), 'agoge-smoke-'))
const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
try {
  const run = spawnSync(process.execPath, [main, 'train', '--quick', '--out', out], { stdio: 'inherit' })
  if (run.status !== 0) process.exit(run.status ?? 1)
  const { stages } = JSON.parse(readFileSync(join(out, 'summary.json'), 'utf8'))
  const before = stages.find((stage) => stage.name === 'base').success
  const after = stages.find((stage) => stage.name === 'rl').success
  const rose = after.low > before.high
  console.log(
    `smoke: ${before.mean.toFixed(3)} [${before.low.toFixed(3)}, ${before.high.toFixed(3)}] -> ${after.mean.toFixed(3)} [${after.low.toFixed(3)}, ${after.high.toFixed(3)}]: ${rose ? 'rose' : 'did not rise clearly'}`,
  )
  process.exitCode = rose ? 0 : 1
} finally {
  rmSync(out, { recursive: true, force: true })
}
