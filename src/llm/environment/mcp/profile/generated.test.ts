import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  canonicalResults,
  compareResults,
  generatedNames,
  madeUpAnew,
  momentPlaces,
  valuesOf,
} from './generated.ts'

const record = (name: string, more: object = {}) => ({
  id: randomUUID(),
  name,
  created_at: new Date().toISOString(),
  ...more,
})
const text = (value: unknown) => JSON.stringify(value)

test('values that a server makes up are found by what differs between two fresh states', () => {
  const state = () => text({ contacts: [{ id: 'c1', name: 'Ada' }, record('Bob')] })
  const found = compareResults(state(), state())
  expect(found).toMatchObject({ kind: 'generated', places: expect.arrayContaining(['id uuid']) })
  // Two records may be created within the same second.
  expect(momentPlaces(state())).toEqual(['created_at time'])
  expect(compareResults('Created note 3f2a9c81b.', 'Created note 77be01aa2.')).toMatchObject({
    kind: 'generated',
  })
  expect(compareResults(text({ roll: 3 }), text({ roll: 5 })).kind).toBe('other')
  expect(compareResults(text({ name: 'Ada' }), text({ name: 'Bob' })).kind).toBe('other')
  expect(compareResults(text([{ a: 1 }, { a: 2 }]), text([{ a: 2 }, { a: 1 }])).kind).toBe('same')
})

test('equal states are equal whatever their ids and the order of creation; references stay references', () => {
  const one = [record('Ada'), record('Bob')]
  const two = [record('Bob'), record('Ada')]
  const state = (people: typeof one, owner: string) => [
    text(people),
    text({ tasks: [{ title: 'call', owner: people.find(({ name }) => name === owner)?.id }] }),
  ]
  const generated = { places: new Set(['id uuid', 'created_at time']), known: new Set<string>() }
  const canonical = (texts: string[]) => canonicalResults(texts, generated)
  expect(canonical(state(one, 'Ada'))).toBe(canonical(state(two, 'Ada')))
  expect(canonical(state(one, 'Ada'))).not.toBe(canonical(state(two, 'Bob')))
  expect(canonical(state(one, 'Ada'))).toContain('<uuid 1>')
  expect(canonical(state(one, 'Ada'))).not.toContain(one[0].id)
  const unlearned = { places: new Set(['id uuid']), known: new Set<string>() }
  expect(canonicalResults([text([record('Ada')])], unlearned)).toContain('"created_at":"<time>"')
  // A value of the first state is not made up, and a text that only looks so is left alone elsewhere.
  const known = { ...generated, known: new Set(valuesOf(text([one[0]]))) }
  expect(canonicalResults([text(one)], known)).toContain(one[0].id)
  expect(canonical([text({ note: one[0].id })])).toContain(one[0].id)
  expect(generatedNames(generated)).toEqual(['id', 'created_at'])
})

test('the new ids of a repeated call replace the old ones', () => {
  const [old, now] = [record('Ada'), record('Ada')]
  expect(madeUpAnew(text(old), text(now))).toContainEqual([old.id, now.id])
  expect(madeUpAnew('Added note 3f2a9c81b', 'Added note 77be01aa2')).toEqual([['3f2a9c81b', '77be01aa2']])
})

test('how long a call took is made up: two calls take different times', () => {
  const said = (time: string) => `Inserted 1 row\nQuery execution time: ${time}`
  expect(compareResults(said('2.31 ms'), said('3 ms')).kind).toBe('generated')
  expect(compareResults(said('2 rows'), said('3 rows')).kind).toBe('other')
})

test('elements of a page are compared by their order, whatever their references are', () => {
  const page = (prefix: string, name = 'Order') =>
    `- button "${name}" [ref=${prefix}1]\n- link "Help" [active] [ref=${prefix}2]\n- see [ref=${prefix}1]`
  expect(compareResults(page('e'), page('f2e')).kind).toBe('same')
  expect(compareResults(page('e'), page('e', 'Done')).kind).toBe('other')
})
