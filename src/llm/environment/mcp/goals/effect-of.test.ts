import { expect, test } from 'vitest'
import { differing } from '../server/database-state.ts'
import { effectOf } from './effect-of.ts'

const state = (parts: unknown): string => JSON.stringify(parts)
const first = {
  'rows of pets': [
    { id: 1, name: 'Rex' },
    { id: 2, name: 'Ada' },
  ],
}
const after = (rows: unknown[]): string => state({ 'shop.db': differing(first, { 'rows of pets': rows }) })

test('a row that is added, removed or changed in a database', () => {
  const [rex, ada] = first['rows of pets']
  expect(effectOf('{}', after([rex, ada, { id: 3, name: 'Bo' }]))).toBe('adds')
  expect(effectOf('{}', after([ada]))).toBe('removes')
  expect(effectOf('{}', after([{ ...rex, name: 'Bo' }, ada]))).toBe('changes')
  // After another row was added.
  expect(effectOf(after([rex, ada, { id: 3, name: 'Bo' }]), after([ada, { id: 3, name: 'Bo' }]))).toBe(
    'removes',
  )
  expect(effectOf('{}', state({ 'shop.db': { 'rows of pets': null } }))).toBe('removes')
})

test('files, and what tools show', () => {
  expect(effectOf('{}', state({ 'a.txt': 'Buy milk today' }))).toBe('adds')
  expect(effectOf('{}', state({ 'a.txt': null }))).toBe('removes')
  expect(effectOf('milk\nbread', 'milk\nbread\neggs')).toBe('adds')
  expect(effectOf('milk\nbread', 'milk')).toBe('removes')
  expect(effectOf('milk: 1 open', 'milk: 2 done')).toBe('changes')
})
