import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import type { Episode } from '../../episode/types.ts'
import type { RewardFunction } from '../../reward/reward.ts'
import { checkToolEnvironment } from './check-tool-environment.ts'
import type { DefinedToolEnvironment } from './define-tool-environment.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

/** The files that a section of CONTRIBUTING.md tells one to write. */
function filesOf(title: string): Record<string, string> {
  const [, section] = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').split(`\n## ${title}\n`)
  const blocks = section.split('\n## ')[0].matchAll(/```ts recipe=(\S+)\n([\s\S]*?)```/g)
  return Object.fromEntries([...blocks].map(([, name, text]) => [name, text]))
}

/** What the first file of a recipe exports. */
async function follow(title: string, names: readonly string[]): Promise<Record<string, unknown>> {
  const folder = join(root, '.recipes', title.toLowerCase().replaceAll(' ', '-'))
  const files = filesOf(title)
  expect(Object.keys(files)).toEqual(names)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    return (await import(/* @vite-ignore */ pathToFileURL(join(folder, names[0])).href)) as Record<
      string,
      unknown
    >
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

test('the recipe "Add a tool environment" makes one that passes its checks', async () => {
  const { environment } = await follow('Add a tool environment', ['stock.ts', 'stock.test.ts'])
  const { kinds } = await checkToolEnvironment(environment as DefinedToolEnvironment)
  expect(kinds).toEqual({ ask: { tasks: 24, calls: 1 }, buy: { tasks: 24, calls: 1 } })
})

test('the recipe "Add a reward" makes a reward that works as described', async () => {
  const { brief } = (await follow('Add a reward', ['brief.ts', 'brief.test.ts'])) as { brief: RewardFunction }
  const context = { signal: new AbortController().signal }
  const of = (success: boolean | null, calls: number) =>
    brief({ success, usage: { calls } } as Episode, context)
  expect(of(null, 1)).toBeNull()
  expect(of(false, 1)).toMatchObject({ value: 0 })
  expect(of(true, 2)).toMatchObject({ value: 0.9, parts: { success: 1, calls: -0.1 } })
})
