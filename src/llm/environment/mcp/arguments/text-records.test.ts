import { expect, test } from 'vitest'
import type { PlainObject } from '../salient.ts'
import { recordsOf } from './text-records.ts'

const results: { title: string; text: string; call?: PlainObject; expected: PlainObject[] }[] = [
  {
    title: 'a listing with marks',
    text: '[FILE] a.txt\n[DIR] b',
    call: { path: 'home' },
    expected: [
      { type: 'FILE', name: 'a.txt', path: 'home/a.txt' },
      { type: 'DIR', name: 'b', path: 'home/b' },
    ],
  },
  {
    title: 'paths on lines under a heading',
    text: 'Allowed directories:\n/tmp/root',
    expected: [{ name: '/tmp/root', path: '/tmp/root' }],
  },
  {
    title: 'a markdown table',
    text: 'Found 2:\n\n| id | name |\n|----|------|\n| 1 | Ada |\n| 2 | `Bob` |\n',
    expected: [
      { id: 1, name: 'Ada' },
      { id: 2, name: 'Bob' },
    ],
  },
  {
    title: 'markdown headings with properties',
    text: '## Buy milk\n- **ID:** t1\n- Status: open\n\n## Call Ada\n- **ID:** t2\n- Status: done',
    expected: [
      { name: 'Buy milk', ID: 't1', Status: 'open' },
      { name: 'Call Ada', ID: 't2', Status: 'done' },
    ],
  },
  {
    title: 'a list',
    text: 'Tables:\n- users (3 rows)\n- orders',
    expected: [{ name: 'users' }, { name: 'orders' }],
  },
  {
    title: 'a list with ids',
    text: '- a1: Buy milk\n- a2: Call',
    expected: [
      { id: 'a1', name: 'Buy milk' },
      { id: 'a2', name: 'Call' },
    ],
  },
  { title: 'properties', text: 'size: 12\nisFile: true', expected: [{ size: 12, isFile: 'true' }] },
  { title: 'JSON in a code block', text: 'Result:\n```json\n[{"id": 3}]\n```', expected: [{ id: 3 }] },
  { title: 'JSON after a sentence', text: 'Found 1 record:\n[\n  {"id": 3}\n]', expected: [{ id: 3 }] },
  {
    title: 'a JSON list of names',
    text: '["users", "orders"]',
    expected: [{ name: 'users' }, { name: 'orders' }],
  },
  {
    title: 'a described table',
    text: '[{"cid":0,"name":"id","type":"INTEGER","pk":1},{"cid":1,"name":"city","type":"TEXT","pk":0}]',
    call: { table_name: 'shops' },
    expected: [{ table: 'shops', columns: ['id INTEGER PRIMARY KEY', 'city TEXT'] }],
  },
  {
    title: 'a file that was read',
    text: 'cold water',
    call: { path: 'a.txt' },
    expected: [{ path: 'a.txt', content: 'cold water' }],
  },
  {
    title: 'marks in a text',
    text: 'button "Send" [ref=e5] and link [ref=e6]',
    expected: [{ ref: 'e5' }, { ref: 'e6' }],
  },
  { title: 'a sentence', text: 'The sum of 1 and 2 is 3.', expected: [] },
]

test.each(results)('records of $title', ({ text, call, expected }) => {
  expect(recordsOf(text, call)).toEqual(expected)
})

test('a long or odd result is read in a moment', () => {
  for (const piece of ['- ', '| a ', 'a: b\n', '[', '## ', '`', '- a (', 'a/', '---|\n', '1. '])
    expect(recordsOf(piece.repeat(20_000)).length).toBeLessThanOrEqual(200)
})

test('rows of a named table say what columns it has', () => {
  const rows = [
    { id: 1, name: 'Ada', age: 36.5, member: true },
    { id: 2, name: 'Bob', age: null, member: false },
  ]
  const [table, ...others] = recordsOf(JSON.stringify(rows), { table: 'people', limit: 5 })
  expect(table).toEqual({
    table: 'people',
    columns: ['id INTEGER PRIMARY KEY', 'name TEXT', 'age REAL', 'member BOOLEAN'],
  })
  expect(others).toMatchObject(rows)
  // Without a table, or with items of several sorts, they are records and no more.
  expect(recordsOf(JSON.stringify(rows), { name: 'people' })).toHaveLength(2)
  const mixed = [rows[0], { id: 3, title: 'x' }]
  expect(recordsOf(JSON.stringify(mixed), { table: 'people' })).toHaveLength(2)
})

test.each([
  ['a line of dashes', `a\n${'-'.repeat(50_000)}x\nb`],
  ['a line of slashes', `${'/'.repeat(50_000)}!`],
  ['blanks in an item', `- a${' '.repeat(50_000)}b`],
  ['blanks behind a mark', `[FILE] a${' '.repeat(50_000)}b`],
  ['digits behind a mark', `[FILE] a  ${'1'.repeat(50_000)}!`],
  ['a fence and line breaks', `\`\`\`${'\n'.repeat(50_000)}x`],
  ['fences that never close', '```\na'.repeat(10_000)],
  ['quotes in a table', `a|b\n--|--\n${'"'.repeat(50_000)}x|y`],
  ['JSON nested deep', '['.repeat(50_000) + ']'.repeat(50_000)],
])('%s are read in linear time', (_, text) => {
  expect(recordsOf(text, { table: 'a' }).length).toBeLessThanOrEqual(200)
})

test('tables, sizes and fences are read as before', () => {
  expect(recordsOf('a | b\n:--|--:\n"x", | 2')).toEqual([{ a: 'x', b: 2 }])
  expect(recordsOf('[FILE] a b.txt   1.5 KB')).toEqual([{ type: 'FILE', name: 'a b.txt' }])
  expect(recordsOf('C:\\x\\y.txt\n/\nx/')).toEqual([{ name: 'C:\\x\\y.txt', path: 'C:\\x\\y.txt' }])
  expect(recordsOf('Here:\n```json \n\n{"a":1}\n```\nend')).toEqual([{ a: 1 }])
})
