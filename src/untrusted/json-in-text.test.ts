import { expect, test } from 'vitest'
import { jsonPart, jsonStart } from './json-in-text.ts'

const rows = '[{"id":1},{"id":2}]'

test('JSON begins at the front, on a line of its own, or after a colon', () => {
  for (const lead of ['', ' ', 'Found 2 rows:\n', 'Found 2 rows: ', 'Done. Retrieved 2 rows.\nResults:\n\n'])
    for (const json of [rows, '{\n  "a": 1\n}', '[]', '{}', '[1]', '[\n']) {
      expect(jsonStart(lead + json), lead + json).toBe(lead.length)
    }
})

test('a bracket elsewhere begins no JSON', () => {
  for (const text of [
    '',
    'none',
    '[FILE] a.txt',
    '- [ ] wash',
    `it says ${rows}`,
    'list: [a]',
    `${'x'.repeat(300)}:\n${rows}`,
  ])
    expect(jsonStart(text), text).toBeUndefined()
})

test('a few lines may follow the JSON', () => {
  const text = '[\n  {"id": 1}\n]\nQuery took 4.05 ms\n\nbye'
  const part = jsonPart(text)
  expect(text.slice(part?.from, part?.to)).toBe('[\n  {"id": 1}\n]')
  expect(jsonPart('{"a":1}')).toEqual({ from: 0, to: 7 })
  // What follows in quotes or brackets may be JSON too.
  expect(jsonPart('[1]\n[2]')).toEqual({ from: 0, to: 7 })
  expect(jsonPart('no JSON\nat all')).toBeUndefined()
})
