import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { algorithmTables, withTables } from '../scripts/docs-algorithms.ts'
import { policyPresets } from '../src/llm/algorithm/policy-optimisation/presets.ts'

const read = (page: string): string => readFileSync(new URL(`../${page}`, import.meta.url), 'utf8')

test.each(Object.keys(algorithmTables))('the tables of %s are those of the definitions', (page) => {
  const message = 'npm run docs:figures writes them'
  expect(withTables(read(page), algorithmTables[page]), message).toBe(read(page))
})

test('a table that was changed by hand is found, and a missing marker is named', () => {
  const page = 'docs/guides/algorithms.md'
  for (const name of Object.keys(policyPresets)) {
    expect(algorithmTables[page]['presets']).toContain(`| \`${name}\` |`)
    const edited = read(page).replace(`| \`${name}\` |`, `| \`${name}x\` |`)
    expect(withTables(edited, algorithmTables[page])).not.toBe(edited)
  }
  expect(() => withTables('a page without markers', algorithmTables[page])).toThrow(/presets: npm run/)
})
