import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type EcmaScriptModule, parseSync } from 'oxc-parser'
import { expect, test } from 'vitest'

const root = new URL('../', import.meta.url)
const { exports } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
  exports: Record<string, string | { 'agoge-source': string }>
}

type Read = (url: string) => string

/** For each name that a file exports, value or type, where it is declared: `file#name`, or the package that it comes from. */
function createResolver(read: Read): (url: string) => Map<string, string> {
  const parsed = new Map<string, EcmaScriptModule>()
  const resolved = new Map<string, Map<string, string>>()

  function moduleOf(url: string): EcmaScriptModule {
    let found = parsed.get(url)
    if (found === undefined) {
      const { module, errors } = parseSync(url, read(url), { lang: 'ts' })
      expect(errors).toEqual([])
      parsed.set(url, (found = module))
    }
    return found
  }

  function declared(url: string, request: string, name: string): string {
    if (!request.startsWith('.')) return `${request}#${name}`
    const target = new URL(request, url).href
    return exportsOf(target).get(name) ?? `${target}#${name}`
  }

  function exportsOf(url: string): Map<string, string> {
    const known = resolved.get(url)
    if (known !== undefined) return known
    const names = new Map<string, string>()
    resolved.set(url, names)
    // The parser gives what is imported and then exported as an export from that file.
    const { staticExports } = moduleOf(url)
    for (const { moduleRequest, importName, localName, exportName } of staticExports.flatMap(
      ({ entries }) => entries,
    )) {
      const name = exportName.name ?? 'default'
      if (moduleRequest === null) names.set(name, `${url}#${localName.name ?? 'default'}`)
      else if (exportName.name === null) {
        // A wildcard. Names of the file itself come before it.
        for (const [each, where] of exportsOf(new URL(moduleRequest.value, url).href))
          if (each !== 'default' && !names.has(each)) names.set(each, where)
      } else names.set(name, declared(url, moduleRequest.value, importName.name ?? '*'))
    }
    return names
  }
  return exportsOf
}

/** The names that entries export with different declarations: one line each, with where the entries take them from. */
function clashes(entries: Record<string, string>, read: Read): string[] {
  const exportsOf = createResolver(read)
  const found = new Map<string, Map<string, string[]>>()
  for (const [entry, url] of Object.entries(entries))
    for (const [name, where] of exportsOf(url)) {
      const places = found.get(name) ?? new Map<string, string[]>()
      places.set(where, [...(places.get(where) ?? []), entry])
      found.set(name, places)
    }
  return [...found]
    .filter(([, places]) => places.size > 1)
    .map(([name, places]) =>
      [
        name,
        ...[...places].map(([where, from]) => `${from.join(', ')}: ${where.replace(root.href, '')}`),
      ].join('; '),
    )
}

const sources = Object.fromEntries(
  Object.entries(exports).flatMap(([path, target]) =>
    typeof target === 'string'
      ? []
      : [[`agoge${path.slice(1)}`, new URL(target['agoge-source'], root).href] as const],
  ),
)
const readSource: Read = (url) => readFileSync(fileURLToPath(url), 'utf8')

test('a name that several entries export is one declaration, for values and types', () => {
  expect(Object.keys(sources).length).toBeGreaterThan(5)
  expect(clashes(sources, readSource)).toEqual([])
})

test('every value that an entry exports is found, also through wildcards', async () => {
  const exportsOf = createResolver(readSource)
  for (const entry of ['agoge/statistics', 'agoge/browser']) {
    const names = exportsOf(sources[entry])
    const values = (await import(sources[entry])) as Record<string, unknown>
    expect(Object.keys(values).filter((name) => !names.has(name))).toEqual([])
  }
})

// The check of modules reads texts, so the paths of these invented files are filled in.
const [x, y, z] = ['x', 'y', 'z'].map((name) => JSON.stringify(`./${name}.ts`))

test('two declarations of one name are reported, and one that is exported twice or renamed back is not', () => {
  const files: Record<string, string> = {
    'file:///a.ts': `
      export type { Result, Step } from ${x}
      export { mean } from ${x}
      export * from ${z}`,
    'file:///b.ts': `
      import { mean } from ${y}
      export { mean }
      export type { Result } from ${y}
      export { same as sum } from ${z}`,
    'file:///x.ts': `
      export interface Result { a: 1 }
      export const mean = 1
      export type Step = 1`,
    'file:///y.ts': `
      export type Result = 1
      export function mean() {}
      export type { Step } from ${x}`,
    'file:///z.ts': `
      const sum = 1
      export { sum, sum as same }`,
  }
  const found = clashes(
    { one: 'file:///a.ts', two: 'file:///b.ts', three: 'file:///y.ts' },
    (url) => files[url],
  )
  expect(found.map((line) => line.split(';')[0]).sort()).toEqual(['Result', 'mean'])
})
