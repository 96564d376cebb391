import { expect, test } from 'vitest'
import { createRandom } from '../../../../engine/random/index.ts'
import { rowNoun, rowWords, sqlValues, sqlWords } from './sql-words.ts'

const random = createRandom(1)

test.each([
  [
    "INSERT INTO order_items (customer_id, status) VALUES (45, 'it''s, open')",
    "add an order item with the customer id 45 and the status it's, open",
  ],
  [
    'UPDATE items SET quantity = 17 WHERE price <= 1',
    'set the quantity to 17 for the items whose price is at most 1',
  ],
  ['UPDATE items SET price = 2', 'set the price to 2 for all items'],
  [
    "DELETE FROM orders WHERE ordered_on >= '2026-01-01'",
    'delete the orders whose ordered date is at least 2026-01-01',
  ],
  [
    'CREATE TABLE lakes (id INTEGER PRIMARY KEY, year INTEGER, city TEXT)',
    'create a table lakes with an id as its primary key and the columns year (integer) and city (text)',
  ],
  ['SELECT COUNT(*) AS total FROM orders', 'count the orders'],
  ['SELECT * FROM customers ORDER BY city DESC', 'list all customers, ordered by city from high to low'],
])('%s', (sql, words) => {
  expect(sqlWords(sql, random)?.requests[0]).toBe(words)
})

test('a question names what is asked for; a change is no question; other SQL has no words', () => {
  expect(sqlWords('SELECT AVG(price) AS result FROM products WHERE stock >= 3', random)?.phrases).toEqual([
    'the average price of the products whose stock is at least 3',
    'the mean price of the products whose stock is at least 3',
  ])
  expect(sqlWords('DELETE FROM orders', random)?.phrases).toEqual([])
  expect(sqlWords('SELECT a, b FROM c JOIN d', random)).toBeUndefined()
  expect(sqlValues("DELETE FROM order_items WHERE city = 'New York'")).toEqual(
    expect.arrayContaining(['New York', 'order items', 'city']),
  )
})

test('a call with a table and values is said as rows of that table', () => {
  const condition = { quantity: 2 }
  expect(
    rowWords({ table: 'products', data: { name: 'Oak desk', stock: 4 } }, 'adds', random)?.requests[0],
  ).toBe('add a product with the name Oak desk and the stock 4')
  expect(rowWords({ table: 'order_items', conditions: condition }, 'removes', random)?.requests[1]).toMatch(
    /^remove the order items (?:whose quantity is|with the quantity) 2$/,
  )
  expect(
    rowWords({ table: 'products', data: { stock: 5 }, where: { id: 1 } }, 'changes', random)?.requests[0],
  ).toMatch(/^set the stock to 5 for the products (?:whose id is|with the id) 1$/)
  expect(rowWords({ table: 'order_items', limit: 3, offset: 2 }, 'reads', random)?.requests[0]).toBe(
    'list the first 3 order items after the first 2',
  )
  expect(
    rowWords({ table: 'orders', conditions: { status: 'open' }, limit: 1, offset: 0 }, 'reads', random)
      ?.requests[1],
  ).toMatch(/^show me the first order (?:whose status is|with the status) open$/)
  expect(rowWords({ table: 'orders', limit: 1 }, 'removes', random)).toBeUndefined()
  expect(rowWords({ table: 'orders', offset: 1 }, 'reads', random)).toBeUndefined()
  expect(rowNoun({ table: 'order_items', limit: 3 }, random)).toBe('order item')
  expect(rowNoun({ table_name: 'order_items' }, random)).toBeUndefined()
  expect(rowNoun({ operation: 'select', query: 'SELECT * FROM order_items' }, random)).toBe('order item')
  // Where rows are named that are to change, nothing is added, whatever the state seems to say.
  expect(
    rowWords({ table: 'products', data: { stock: 5 }, where: { id: 1 } }, 'adds', random)?.requests[0],
  ).toMatch(/^set the stock to 5 for the products (?:whose id is|with the id) 1$/)
  // A condition may be a text, and what deletes needs no values.
  const removal = { table: 'orders', data: { id: 4 }, where: "status = 'open'", schema: 'public' }
  expect(rowWords(removal, 'removes', random, 'delete')?.requests[0]).toMatch(
    /^delete the orders (?:whose status is|with the status) open$/,
  )
  // Another schema would have to be said.
  expect(rowWords({ ...removal, schema: 'sales' }, 'removes', random, 'delete')).toBeUndefined()
  const change = { table: 'products', data: { stock: 5 }, where: 'price >= 40', returning: 'id' }
  expect(rowWords(change, 'changes', random, 'update')?.requests[0]).toBe(
    'set the stock to 5 for the products whose price is at least 40',
  )
  expect(rowWords({ table: 'orders', where: 'a OR b' }, 'removes', random, 'delete')).toBeUndefined()
  expect(rowWords({ table: 'products' }, 'reads', random)).toBeUndefined()
  expect(rowWords({ name: 'x', data: condition }, 'adds', random)).toBeUndefined()
})
