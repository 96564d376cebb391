import { expect, test } from 'vitest'
import { markBytes, markedAnswer, markedResult, type MarkedText, recordValues } from './record-marks.ts'

const shown = (text: MarkedText): string =>
  text.map((part) => (typeof part === 'number' ? `<${part}>` : part)).join('')

const shop = JSON.stringify({
  count: 2,
  items: [
    { id: 4, name: 'Blue "ink"', tags: ['a', 'b'] },
    { id: 5, name: '{', tags: [] },
  ],
})

test('each value of a record stands between two marks with its number', () => {
  expect(shown(markedResult(shop))).toBe(
    '{"count":2,"items":[{"id":<1>4<1>,"name":"<1>Blue \\"ink\\"<1>","tags":<1>["a","b"]<1>},{"id":<2>5<2>,"name":"<2>{<2>","tags":<2>[]<2>}]}',
  )
})

test('without the marks a result is what it was, in whatever way it is written', () => {
  for (const value of [
    JSON.parse(shop),
    [{ a: { b: [{ c: 1 }] } }, { a: null }],
    { x: [{ a: 1 }], y: [{ b: 2 }] },
  ])
    for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
      const marked = markedResult(text)
      expect(marked.filter((part) => typeof part === 'string').join('')).toBe(text)
      expect(marked.some((part) => typeof part === 'number')).toBe(true)
    }
})

test('records of several lists are numbered on, and what is within a record has no marks of its own', () => {
  expect(shown(markedResult('{"x":[{"a":1}],"y":[{"b":[{"c":2}]}]}'))).toBe(
    '{"x":[{"a":<1>1<1>}],"y":[{"b":<2>[{"c":2}]<2>}]}',
  )
})

test('words may lead to the records', () => {
  expect(shown(markedResult('Found 2 rows:\n[{"a":1},{"a":2}]'))).toBe(
    'Found 2 rows:\n[{"a":<1>1<1>},{"a":<2>2<2>}]',
  )
})

test('a result without two records, or that is no JSON, has no marks', () => {
  for (const text of ['[{"a":1}]', '{"a":1,"b":{"c":2}}', '[1,2]', 'name: Blue ink', ''])
    expect(markedResult(text)).toEqual([text])
})

test('a result that was cut has marks as far as its values are whole', () => {
  expect(shown(markedResult('[{"a":1,"b":"x"},{"a":2,"b":"y…'))).toBe(
    '[{"a":<1>1<1>,"b":"<1>x<1>"},{"a":<2>2<2>,"b":"y…',
  )
})

test('records after the last mark have none', () => {
  const rows = Array.from({ length: 20 }, (_, at) => ({ a: at }))
  const marks = markedResult(JSON.stringify(rows)).filter((part) => typeof part === 'number')
  expect(Math.max(...marks)).toBe(13)
  expect(recordValues(JSON.stringify(rows))).toHaveLength(20)
})

test('an answer that names a record and a property of it has the marks of the record', () => {
  expect(shown(markedAnswer('id: 5, name: {', shop))).toBe('id: 5<2>, name:<2> {')
  expect(shown(markedAnswer('name: Blue "ink", tags: a, b', shop))).toBe('name: Blue "ink"<1>, tags:<1> a, b')
  expect(shown(markedAnswer('id: 5, name: {, yes', shop))).toBe('id: 5<2>, name:<2> {, yes')
  const priced = '[{"name":"a","price":8.50},{"name":"b","price":9.25}]'
  expect(shown(markedAnswer('price: 8.5, name: a', priced))).toBe('price: 8.5<1>, name:<1> a')
  // Of two records, of none, or another form.
  for (const text of ['id: 4, name: {', 'id: 9, name: x', 'name: {', 'count: 2, id: 4', 'done', ''])
    expect(markedAnswer(text, shop)).toEqual([text])
})

test('marks are bytes that no text has', () => {
  for (const byte of markBytes) expect(new TextDecoder().decode(Uint8Array.of(byte))).toBe('\uFFFD')
  expect(new Set(markBytes).size).toBe(13)
})

test('a result that is nested deeply takes no longer than another of its length', () => {
  // A search through all that is open at each bracket would be 2e10 steps.
  const deep = `[{"a":${'['.repeat(200_000)}`
  expect(markedResult(deep)).toEqual([deep])
})
