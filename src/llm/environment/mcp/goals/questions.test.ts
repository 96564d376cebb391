import { expect, test } from 'vitest'
import { createRandom } from '../../../../engine/random/index.ts'
import { askAbout, saidAnswer } from './questions.ts'
import { hasValue } from './value.ts'

test('an answer may name the record as the request does, but no other value of the result', () => {
  const rows = [
    { id: 31, name: 'Blue ink', price: 12 },
    { id: 44, name: 'Oak desk', price: 95 },
  ]
  const seen = new Set<string>()
  for (let seed = 0; seed < 60; seed += 1) {
    const question = askAbout(JSON.stringify(rows), 'which', {
      stated: '',
      noun: 'product',
      random: createRandom('questions', seed),
      ignore: [],
      strange: 'nothing such',
    })
    if (question?.asked.form !== 'which') throw new Error('no question')
    const { asked, expected } = question
    const [row, other] = Object.values(rows[0]).map(String).includes(asked.value) ? rows : rows.toReversed()
    seen.add(`${asked.by} ${asked.of}`)
    const answer = String(Object.entries(row).find(([key]) => key === asked.of)?.[1])
    expect(expected.answer).toBe(answer)
    expect(hasValue(`${asked.by} ${asked.value}, ${asked.of}: ${answer}`, expected)).toBe(true)
    expect(saidAnswer(question, JSON.stringify(rows))).toBe(
      `${asked.by}: ${asked.value}, ${asked.of}: ${answer}`,
    )
    expect(saidAnswer(question, JSON.stringify([row]))).toBe(`${asked.of}: ${answer}`)
    expect(hasValue(`the ${asked.of} of ${asked.value} is ${answer}`, expected)).toBe(true)
    for (const [key, value] of Object.entries(other))
      expect(hasValue(`${key} ${String(value)}, ${asked.of}: ${answer}`, expected)).toBe(false)
    expect(hasValue(JSON.stringify(row), expected)).toBe(false)
  }
  expect(seen.size).toBe(6)
})

test('the answer to a question for the most says first how much that is', () => {
  const rows = [
    { name: 'Blue ink', price: 12 },
    { name: 'Oak desk', price: 95 },
  ]
  const context = { stated: '', noun: 'product', ignore: [], strange: 'nothing such' }
  const said = Array.from({ length: 20 }, (_, seed) => {
    const question = askAbout(JSON.stringify(rows), 'most', { ...context, random: createRandom(seed) })
    return question === undefined
      ? ''
      : [question.asked.form, saidAnswer(question, JSON.stringify(rows))].join(' ')
  })
  expect(new Set(said)).toEqual(
    new Set(['most price: 95, name: Oak desk', 'least price: 12, name: Blue ink']),
  )
})

test('words before the JSON of a result change no question', () => {
  const rows = JSON.stringify([{ total: 7 }])
  const context = { stated: '', noun: 'row', ignore: [], strange: 'nothing such', random: createRandom(1) }
  const question = askAbout(`Done.\nResults:\n${rows}`, 'fact', context)
  expect(question).toMatchObject({ property: 'total', expected: { type: 'number', answer: '7' } })
  expect(question?.find(`Done.\nResults:\n${JSON.stringify([{ total: 9 }])}`)).toBe('9')
})

test('a list in an asked order is judged in it, and not asked for where several orders are right', () => {
  const rows = [
    { id: 1, price: 12, stock: 4 },
    { id: 3, price: 9, stock: 4 },
    { id: 2, price: 5, stock: 7 },
  ]
  const expectedBy = (orderedBy: string | undefined, seed: number) =>
    askAbout(JSON.stringify(rows), 'all', {
      stated: '',
      noun: 'product',
      random: createRandom('ordered', seed),
      ignore: [],
      strange: 'nothing such',
      orderedBy,
    })?.expected
  for (let seed = 0; seed < 20; seed++) {
    const byPrice = expectedBy('price', seed)
    if (byPrice === undefined) throw new Error('no question')
    expect(hasValue(byPrice.answer, byPrice)).toBe(true)
    expect(hasValue(byPrice.answer.split(', ').toReversed().join(', '), byPrice)).toBe(false)
    const unordered = expectedBy(undefined, seed)
    expect(unordered?.ordered).toBeUndefined()
    // Two have the same stock, and names are not shown.
    expect(expectedBy('name', seed)).toBeUndefined()
    const byStock = expectedBy('stock', seed)
    if (byStock !== undefined) expect(byStock).toMatchObject({ answer: '4, 4, 7', ordered: true })
  }
})
