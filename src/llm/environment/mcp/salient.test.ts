import { expect, test } from 'vitest'
import { createRandom } from '../../../engine/random/index.ts'
import {
  chooseSalient,
  compactResult,
  containsWhole,
  extractSalient,
  jsonOfResult,
  otherValues,
  whyNothingSalient,
} from './salient.ts'

test('only whole words match, anywhere in the text', () => {
  expect(containsWhole('a/b.txt is it', 'b.txt')).toBe(true)
  expect(containsWhole('rivers', 'river')).toBe(false)
  expect(containsWhole('rivers and river', 'river')).toBe(true)
  expect(containsWhole('anything', '')).toBe(false)
})

test('the requested value is short, unambiguous and not in the request', () => {
  const random = createRandom(1)
  expect(chooseSalient('Echo: hi', '', random)).toEqual({ kind: 'whole' })
  expect(chooseSalient('', '', random)).toBeUndefined()
  expect(chooseSalient('x'.repeat(200), '', random)).toBeUndefined()
  expect(chooseSalient('a long list that was cut…', '', random)).toBeUndefined()
  const json = JSON.stringify({ items: [{ name: 'river', type: 'place' }] })
  for (let seed = 0; seed < 10; seed++) {
    expect(chooseSalient(json, '{"name":"river"}', createRandom(seed))).toMatchObject({ words: 'type' })
  }
  // Two records: neither name is "the name".
  expect(chooseSalient('[{"name":"river"},{"name":"stone"}]', '', random)).toBeUndefined()
  const line = chooseSalient('first\nsecond', '', random)
  expect(line?.kind).toBe('line')
  expect(['first', 'second']).toContain(line && extractSalient('first\nsecond', line))
  expect(extractSalient('not json', { kind: 'field', path: ['a'], words: 'a' })).toBeUndefined()
  expect(otherValues(json, 'place')).toEqual(['river'])
})

test('a result of which nothing can be asked: each cause has its own sentence, with what to do', () => {
  const why = (result: string): string => {
    const text = compactResult(result, 100)
    expect(chooseSalient(text, '', createRandom(1))).toBeUndefined()
    return whyNothingSalient(text, 100)
  }
  const records = [{ name: 'river' }, { name: 'stone' }]
  expect(why('x'.repeat(101))).toMatch(/too long: the model sees 100 characters.*raise "resultLimit"/)
  expect(why(JSON.stringify({ text: 'x'.repeat(90), name: 'river' }))).toMatch(
    /too long.*raise "resultLimit"/,
  )
  expect(why('')).toMatch(/empty/)
  expect(why('x'.repeat(95))).toMatch(/lines of more than 80 characters.*return JSON/)
  expect(why(JSON.stringify(records))).toMatch(/occurs several times.*return one record/)
  expect(why(JSON.stringify([1, 2, 3]))).toMatch(/no named field/)
  expect(why(JSON.stringify({ text: 'x'.repeat(60) }))).toMatch(
    /no named field with a value of 1 to 40 characters/,
  )
})

test('of a long line with several sentences a short one is asked for; ignored properties never are', () => {
  const long =
    'Current time in Asia/Tokyo is 2025-03-23 12:30:00, and in Europe/London it is 2025-03-23 03:30:00.'
  for (let seed = 0; seed < 5; seed++)
    expect(chooseSalient(`${long} It is 9 hours less.`, '', createRandom(seed))).toEqual({
      kind: 'sentence',
      which: 'last',
    })
  expect(extractSalient(`${long} It is 9 hours less.`, { kind: 'sentence', which: 'last' })).toBe(
    'It is 9 hours less.',
  )
  expect(chooseSalient(long, '', createRandom(1))).toBeUndefined()
  const contact = JSON.stringify({ id: 'x7', name: 'Ada', meta: { created_at: 'today' } })
  for (let seed = 0; seed < 10; seed++)
    expect(chooseSalient(contact, '', createRandom(seed), ['id', 'meta'])).toMatchObject({ words: 'name' })
  expect(otherValues(contact, 'Ada', ['id', 'meta'])).toEqual([])
})

test('of a result that was cut, what stands at its front can be asked for', () => {
  const read = (result: string): [string | undefined, string | undefined] => {
    const text = compactResult(result, 100)
    expect(text).toMatch(/…$/)
    const salient = chooseSalient(text, '', createRandom(1))
    return [salient?.kind, salient && extractSalient(text, salient)]
  }
  expect(
    read(JSON.stringify({ status: 'green "all" [ok]', rows: [{ id: 7 }], text: 'x'.repeat(90) })),
  ).toEqual(['field', 'green "all" [ok]'])
  // A list that was cut may have more than is seen.
  expect(read(JSON.stringify([{ name: 'river' }, { text: 'x'.repeat(99) }]))).toEqual([undefined, undefined])
  expect(read(`Report\n${'x'.repeat(120)}`)).toEqual(['line', 'Report'])
  expect(read(`It works. ${'x'.repeat(120)}`)).toEqual(['sentence', 'It works.'])
})

test('lines around the JSON of a result are shown, and are no part of what can be asked for', () => {
  const text = 'Rows:\n[\n  { "id": 1, "name": "oak" }\n]\nQuery took 4.05 ms\n'
  expect(jsonOfResult(text)).toEqual([{ id: 1, name: 'oak' }])
  expect(compactResult(text)).toBe('Rows:\n[{"id":1,"name":"oak"}]\nQuery took 4.05 ms')
  expect(compactResult('a\n\n\nb ')).toBe('a\nb')
})

test('runs of blank lines become one, other blanks stay', () => {
  expect(compactResult('a \n\t\n b\nc  d\r\n\r\ne')).toBe('a\nb\nc  d\ne')
  expect(compactResult(`x${' '.repeat(100_000)}x`, 10)).toBe('x        …')
  expect(compactResult(`x${' \n'.repeat(100_000)}x`)).toBe('x\nx')
  expect(compactResult('😀'.repeat(400), 300)).toBe(`${'😀'.repeat(299)}…`)
})

test('a result that is nested deeper than any reader can go is a text', () => {
  for (const deep of [
    '['.repeat(50_000) + ']'.repeat(50_000),
    `Found:\n${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`,
  ]) {
    expect(jsonOfResult(deep)).toBeUndefined()
    expect(compactResult(deep)).toBe(`${deep.slice(0, 299)}…`)
    expect(otherValues(deep, 'a')).toEqual([])
  }
})

test('what stands before and behind decides whether a part is whole', () => {
  expect(containsWhole('a1.5', '5')).toBe(false)
  expect(containsWhole('it is -5', '5')).toBe(false)
  expect(containsWhole('3-5', '5')).toBe(true)
  expect(containsWhole('😀-5', '5')).toBe(false)
  expect(containsWhole('𝒜-5', '5')).toBe(true)
  expect(containsWhole('5.0', '5')).toBe(false)
  expect(containsWhole('xa '.repeat(50_000), 'a')).toBe(false)
})
