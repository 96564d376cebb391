import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/** What bundlers put in the place of what, from package.json, by the URL of the file. */
const replaced = ((): Map<string, string> => {
  const root = new URL('../', import.meta.url)
  const { browser } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
    browser: Record<string, string>
  }
  return new Map(
    Object.entries(browser).map(([from, to]) => [new URL(from, root).href, new URL(to, root).href]),
  )
})()

/** Imports that are there when the program runs; those of types alone are gone by then. */
const imports = /^(?:import|export) (?!type )(?:[^'";]*? from )?'([^']+)'|\bimport\('([^']+)'\)/gm

/** Packages and built-in modules that a file needs, itself or by what it imports, each with the file that says so. */
function foreign(entry: URL): Record<string, string> {
  const found: Record<string, string> = {}
  const seen = new Set<string>()
  const walk = (file: string): void => {
    if (seen.has(file)) return
    seen.add(file)
    for (const [, still, later] of readFileSync(fileURLToPath(file), 'utf8').matchAll(imports)) {
      const name = still ?? later
      if (!name.startsWith('.')) found[name] = file
      else walk(replaced.get(new URL(name, file).href) ?? new URL(name, file).href)
    }
  }
  walk(entry.href)
  return found
}

test.each(['browser.ts', 'classic/environment/index.ts', 'classic/tabular/temporal-difference.ts'])(
  'src/%s needs nothing of Node',
  (entry) => {
    const needed = foreign(new URL(entry, import.meta.url))
    delete needed['onnxruntime-web/wasm']
    expect(needed).toEqual({})
  },
)

test('the walk sees what the whole library needs', () => {
  expect(Object.keys(foreign(new URL('index.ts', import.meta.url)))).toEqual(
    expect.arrayContaining(['node:fs', 'node:child_process', 'onnxruntime-web/wasm']),
  )
})
