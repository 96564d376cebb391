import { expect, test } from 'vitest'
import { tablesIn } from '../arguments/sql-tables.ts'
import { shownRecords, shownState } from './shown-state.ts'

test('each list of objects is a table, with the types of its values and its rows', () => {
  const text = JSON.stringify({
    pets: [
      { id: 1, name: 'Rex', born: '2020-03-01', weight: 4.5, tame: true },
      { id: 2, name: 'Mia', born: null },
    ],
  })
  expect(shownRecords(text)).toEqual([
    { table: 'pets', columns: ['id INTEGER', 'name TEXT', 'born DATE', 'weight REAL', 'tame BOOLEAN'] },
    { id: 1, name: 'Rex', born: '2020-03-01', weight: 4.5, tame: true },
    { id: 2, name: 'Mia', born: null, weight: null, tame: null },
  ])
  const [pets] = tablesIn(shownRecords(text))
  expect(pets.name).toBe('pets')
  expect(pets.rows).toHaveLength(2)
  expect(pets.columns.map(({ kind }) => kind)).toEqual(['integer', 'text', 'date', 'number', 'boolean'])
})

test('declared columns are those of a table, also of one without rows', () => {
  const text = JSON.stringify({
    definitions: [
      { table: 'pets', columns: ['id int PRIMARY KEY', 'name varchar(60)'] },
      { table: 'owners', columns: ['email varchar(60)', 'since date'] },
    ],
    pets: [{ id: 1, name: 'Rex' }],
    owners: [],
  })
  const tables = tablesIn(shownRecords(text))
  expect(tables.map(({ name, rows }) => [name, rows.length])).toEqual([
    ['pets', 1],
    ['owners', 0],
  ])
  expect(tables[0].columns[0]).toEqual({ name: 'id', kind: 'integer', generated: true })
  expect(tables[1].columns[1]).toEqual({ name: 'since', kind: 'date', generated: false })
})

test('anything else is read like the result of a tool', () => {
  const records = shownRecords('{"queues":["mail","print"],"limits":{"most":5}}')
  expect(records).toEqual(expect.arrayContaining([{ name: 'mail' }, { name: 'print' }, { most: 5 }]))
  expect(shownRecords('- mail\n- print\n')).toEqual([{ name: 'mail' }, { name: 'print' }])
  expect(shownState('- mail\n')).toEqual({ service: '- mail' })
  expect(shownState('{"queues":[]}')).toEqual({ queues: [] })
})
