import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string): string => readFileSync(`${root}/${path}`, 'utf8')
const codes = [...read('src/error.ts').matchAll(/^ {2}\| '([a-z-]+)'$/gm)].map(([, code]) => code)

test('the page has every code of the type once, in order, with a meaning', () => {
  const rows = [...read('docs/reference/errors.md').matchAll(/^\| `([a-z-]+)` \| (.+) \|$/gm)]
  expect(rows.map(([, code]) => code)).toEqual(codes)
  expect(codes).toEqual([...new Set(codes)].sort())
  expect(codes.length).toBeGreaterThan(100)
})

test('every code of the type is thrown somewhere', () => {
  const files = ['src', 'research'].flatMap((folder) =>
    readdirSync(`${root}/${folder}`, { recursive: true, encoding: 'utf8' }).map(
      (name) => `${folder}/${name}`,
    ),
  )
  const sources = files.filter((file) => /(?<!\.test)\.ts$/.test(file) && file !== 'src/error.ts').map(read)
  const text = sources.join('\n')
  const found = [...text.matchAll(/findNamed\(\s*['`](\w+)/g)].map(([, word]) => `unknown-${word}`)
  const made = new Set([...found, 'duplicate-model', 'duplicate-task'])
  expect(codes.filter((code) => !text.includes(`'${code}'`) && !made.has(code))).toEqual([])
})
