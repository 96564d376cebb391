import { expect, test } from 'vitest'
import { jsonStart } from './json-in-text.ts'

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
