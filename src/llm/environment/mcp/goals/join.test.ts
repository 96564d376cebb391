import { expect, test } from 'vitest'
import { createRandom } from '../../../../engine/random/index.ts'
import { askJoined } from './join.ts'
import { saidAnswer } from './questions.ts'

const orders = {
  arguments: { table: 'orders', conditions: { status: 'open' } },
  text: JSON.stringify([
    { id: 31, customer_id: 2, total: 80 },
    { id: 32, customer_id: 1, total: 75 },
  ]),
}
const people = [
  { id: 1, name: 'Ada', city: 'Rome' },
  { id: 2, name: 'Bob', city: 'Oslo' },
]
const customers = { arguments: { sql: 'SELECT * FROM customers' }, text: JSON.stringify(people) }

test('a join asks for a property of the record that another record names', () => {
  for (let seed = 0; seed < 20; seed++) {
    const { question, link } = askJoined(orders, customers, [], createRandom(seed)) ?? {}
    expect(question?.asked).toMatchObject({ form: 'joined', noun: 'order', by: 'id', to: 'customer' })
    const asked = question?.asked as { of: 'name' | 'city'; value: string }
    const person = people[asked.value === '31' ? 1 : 0]
    expect(question?.expected.answer).toBe(person[asked.of])
    // The answer follows the second result, in any order of its records.
    expect(question?.find(JSON.stringify(people.toReversed()))).toBe(person[asked.of])
    expect(question?.find('[]')).toBeUndefined()
    expect(link).toBe(`id: ${asked.value}, customer_id: ${person.id}`)
    if (question === undefined) continue
    expect(saidAnswer(question, customers.text)).toBe(
      `id: ${person.id}, ${question.property}: ${person[asked.of]}`,
    )
  }
})

test('there is no join without a reference, and none that the first result answers', () => {
  const random = createRandom(0)
  expect(askJoined(customers, orders, [], random)).toBeUndefined()
  expect(askJoined(orders, orders, [], random)).toBeUndefined()
  const products = { arguments: { table: 'products' }, text: customers.text }
  expect(askJoined(orders, products, [], random)).toBeUndefined()
  const stated = { ...orders, text: JSON.stringify([{ id: 31, customer_id: 2, name: 'Bob', city: 'Oslo' }]) }
  expect(askJoined(stated, customers, [], random)).toBeUndefined()
})
