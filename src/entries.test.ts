import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const { exports } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  exports: Record<string, unknown>
}
const entries = Object.keys(exports)
  .filter((path) => path !== './package.json')
  .map((path) => `agoge${path.slice(1)}`)

/** The files of `dist/` (as `classic/index.js`) and the packages that a program loads which imports one entry. */
async function loadedBy(entry: string): Promise<{ files: string[]; packages: string[] }> {
  const hooks = `import { writeSync } from 'node:fs'
export const load = (url, context, next) => (writeSync(2, 'loaded ' + url + '\\n'), next(url, context))`
  const program = `import { register } from 'node:module'
register('data:text/javascript,' + ${JSON.stringify(encodeURIComponent(hooks))})
await import('${entry}')`
  const run = promisify(execFile)
  const { stderr } = await run(process.execPath, ['--input-type=module', '-e', program], { cwd: root })
  const urls = [...stderr.matchAll(/^loaded (file:.*)$/gm)].map(([, url]) => url)
  return {
    files: urls
      .filter((url) => !url.includes('/node_modules/'))
      .map((url) => url.slice(url.lastIndexOf('/dist/') + 6)),
    packages: [
      ...new Set(urls.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? [])),
    ],
  }
}

const loaded = Object.fromEntries(
  await Promise.all(entries.map(async (entry) => [entry, await loadedBy(entry)] as const)),
)
const from = (entry: string, folder: string): string[] =>
  loaded[entry].files.filter((file) => file.startsWith(folder))

test('the folders of an entry are those that it is about', () => {
  expect(from('agoge/classic', 'llm/')).toEqual([])
  expect(from('agoge/llm', 'classic/')).toEqual([])
  for (const entry of ['agoge/engine', 'agoge/statistics', 'agoge/losses', 'agoge/rewards'])
    expect(from(entry, 'classic/')).toEqual([])
  expect(from('agoge/engine', 'llm/')).toEqual([])
  expect(from('agoge/statistics', '').filter((file) => !/^(statistics|engine\/random)\//.test(file))).toEqual(
    ['error.js'],
  )
  for (const entry of ['agoge/losses', 'agoge/rewards']) {
    expect(from(entry, 'engine/tensor/')).toEqual([])
    expect(from(entry, 'llm/environment/')).toEqual([])
  }
  for (const entry of entries) expect(from(entry, 'cli/')).toEqual([])
})

test('no entry loads the MCP client, ONNX Runtime or commander before something asks for them', () => {
  for (const entry of entries)
    expect(
      loaded[entry].packages.filter((name) => /modelcontextprotocol|zod|onnx|commander/.test(name)),
    ).toEqual([])
  for (const entry of ['agoge/classic', 'agoge/engine', 'agoge/statistics', 'agoge/losses', 'agoge/rewards'])
    expect(loaded[entry].packages).toEqual([])
})

test('an import stays small: each file costs about half a millisecond', () => {
  const count = (entry: string): number => loaded[entry].files.length
  expect(count('agoge')).toBeLessThan(550)
  expect(count('agoge/llm')).toBeLessThan(460)
  expect(count('agoge/classic')).toBeLessThan(250)
  expect(count('agoge/engine')).toBeLessThan(70)
  for (const entry of ['agoge/statistics', 'agoge/losses', 'agoge/rewards'])
    expect(count(entry)).toBeLessThan(50)
})
