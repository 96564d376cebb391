import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
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
    for (const run of Object.values(paper.arms))
      for (const seed of [101, 102]) {
        const returned = await run({ seed, budget: paper.quick })
        if (typeof returned === 'number') throw new Error('the recipe returns measures')
        expect(returned.score).toBeGreaterThan(0)
        for (const { of } of paper.checks ?? []) expect(returned.measures?.[of]).toBeTypeOf('number')
      }
    for (const arm of [paper.effect.better, ...paper.effect.than]) expect(paper.arms[arm]).toBeDefined()
    expect(paper.control).toBeDefined()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
