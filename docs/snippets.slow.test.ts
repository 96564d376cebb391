import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'docs', '.snippets')

/** The ```ts blocks of a page; a block marked ```ts no-run is type-checked only. */
function snippets(page: string): { name: string; code: string; runs: boolean }[] {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(/```ts( no-run)?\n([\s\S]*?)```/g)].map((match, i) => ({
    name: `${page.replaceAll(/[/.]/g, '-')}-${i + 1}.ts`,
    code: `${match[2]}\nexport {}\n`,
    runs: match[1] === undefined,
  }))
}

const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !/^(\.|site)/.test(name))
    .map((name) => `docs/${name}`),
]
const all = pages.flatMap(snippets)

test('every snippet of the documentation type-checks and runs', async () => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const { name, code } of all) writeFileSync(join(folder, name), code)
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: '../../tsconfig.json',
      compilerOptions: { noUnusedLocals: false },
      include: ['*.ts'],
    }),
  )
  await run(join(root, 'node_modules/.bin/tsc'), ['-p', folder]).catch((error: { stdout: string }) => {
    throw new Error(error.stdout)
  })
  // In one process, which loads the library once.
  const names = all.filter(({ runs }) => runs).map(({ name }) => `./${name}`)
  writeFileSync(
    join(folder, 'all.mts'),
    `for (const name of ${JSON.stringify(names)}) {\n  console.log(name)\n  await import(name)\n}\n`,
  )
  await run(process.execPath, ['--import', 'tsx', '--conditions', 'agoge-source', join(folder, 'all.mts')], {
    cwd: root,
    maxBuffer: 1e8,
  })
  expect(all.length).toBeGreaterThan(0)
})
