import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { judge } from '../runner/paper.ts'
import type { Paper } from '../runner/paper.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('the recipe "Add a paper" works as written: every arm returns a score', async () => {
  const page = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
  const [, recipe] = /```ts recipe=paper\n([\s\S]*?)```/.exec(page) ?? []
  mkdirSync(join(root, '.agoge'), { recursive: true })
  const folder = mkdtempSync(join(root, '.agoge', 'paper-'))
  try {
    const file = join(folder, 'clip-range.ts')
    writeFileSync(file, recipe.replaceAll("'../runner/paper.ts'", "'../../research/runner/paper.ts'"))
    const { default: paper } = (await import(pathToFileURL(file).href)) as { default: Paper }
    expect(page).toContain(`papers run ${paper.id} --quick`)
    const scores: Record<string, number[]> = {}
    for (const [arm, run] of Object.entries(paper.arms))
      scores[arm] = [
        await run({ seed: 101, budget: paper.quick }),
        await run({ seed: 102, budget: paper.quick }),
      ]
    for (const runs of Object.values(scores)) for (const score of runs) expect(score).toBeGreaterThan(0)
    expect(judge(paper, scores).comparisons).toHaveLength(paper.expect.than.length)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
