import { describe, expect, test } from 'vitest'
import type { Task } from '../agent/types.ts'
import { changedAnswer } from './corruptions.ts'
import { checkOutcome, differenceOf } from './outcome-check.ts'
import type { Reference } from './outcome-check.ts'

const task: Task = {
  id: 'one',
  kind: 'only',
  seed: 0,
  split: 'test',
  prompt: 'What is the code of the lantern?',
  difficulty: 1,
  context: {},
  plan: () => ({ answer: 'done' }),
}

function referenceOf(given: Partial<Reference> & { prompt?: string } = {}): Reference {
  const { prompt = task.prompt, ...rest } = given
  return {
    calls: [],
    changes: [],
    shown: true,
    start: { items: ['a'] },
    end: { items: ['a'] },
    unstable: new Set(),
    answer: 'done',
    reward: 1,
    ...rest,
    task: { ...task, ...rest.task, prompt },
  }
}

describe('states', () => {
  const reference = referenceOf({ end: { items: ['a', 'b'], price: 3 } })
  const statusOf = (state: unknown, given = reference) =>
    checkOutcome(given, { state, answer: 'whatever' }).status

  test('every value counts, with its type', () => {
    expect(statusOf({ items: ['a', 'b'], price: 3 })).toBe('done')
    expect(statusOf({ items: ['a', 'b'], price: '3' })).toBe('undone')
    expect(statusOf({ items: ['a', 'b', 'c'], price: 3 })).toBe('undone')
    expect(statusOf({ items: ['a', 'B'], price: 3 })).toBe('undone')
    expect(statusOf({ items: ['a', 'b'], price: 3, more: [] })).toBe('undone')
    expect(statusOf({ price: 3, items: ['a', 'b'] })).toBe('done')
  })

  test('another order is unclear unless the request asks for one', () => {
    expect(statusOf({ items: ['b', 'a'], price: 3 })).toBe('unclear')
    const asked = referenceOf({ ...reference, prompt: 'Sort my list' })
    expect(statusOf({ items: ['b', 'a'], price: 3 }, asked)).toBe('undone')
  })

  test('what two episodes of the expert leave differently is ignored', () => {
    const unstable = new Set(['id'])
    expect(differenceOf({ id: 1, name: 'x' }, { id: 2, name: 'x' }, unstable)).toBeUndefined()
    expect(differenceOf({ id: 1, name: 'x' }, { id: 2, name: 'y' }, unstable)).toBe(
      'name is "y", after the expert "x"',
    )
  })

  test('of several solutions only the untouched state is surely wrong', () => {
    const several = { ...reference, task: { ...reference.task, solutions: 'several' as const } }
    expect(statusOf({ items: ['a'] }, several)).toBe('undone')
    expect(statusOf({ items: ['a', 'z'], price: 9 }, several)).toBe('unclear')
  })

  test('a task that asks for nothing is never done', () => {
    expect(statusOf({ items: ['a'] }, referenceOf())).toBe('undone')
  })
})

describe('answers', () => {
  const cases: [wanted: string, given: string | null, status: string, prompt?: string][] = [
    ['42', '42', 'done'],
    ['42', '"42".', 'done'],
    ['42', '42.0', 'done'],
    ['42', '420', 'undone'],
    ['42', '-42', 'undone'],
    ['42', 'The answer is 42', 'unclear'],
    ['42', '41 or 42', 'undone'],
    ['42', '', 'undone'],
    ['42', null, 'undone'],
    ['aB3x-Q9', 'ab3x-q9', 'undone'],
    ['aB3x-Q9', 'aB3xQ9', 'undone'],
    ['aB3x-Q9', 'aB3x', 'undone'],
    ['Paris', 'paris', 'unclear'],
    ['Paris', 'Berlin, Paris, Rome', 'undone'],
    ['Paris', 'It is Paris', 'unclear'],
    ['a, b, c', 'a\nb\nc', 'unclear'],
    ['a, b, c', 'c, b, a', 'unclear'],
    ['a, b, c', 'c, b, a', 'undone', 'Name them in alphabetical order'],
    ['a, b, c', 'a, b', 'undone'],
    ['a, b, c', 'a, b, c, d', 'undone'],
    ['This cannot be done.', 'I am unable to do that', 'done'],
    ['{"a": 1}', '{ "a":1 }', 'done'],
    ['there is none', 'nothing was found', 'done'],
    ['there is none', '3', 'undone'],
    ['86', 'The sum of 7 and 79 is 86', 'unclear', 'What is 7 plus 79?'],
    ['86', 'The sum of 7 and 78 is 86', 'undone', 'What is 7 plus 79?'],
    ['86', '7 79 86', 'undone', 'What is 7 plus 79?'],
    ['86', 'it is 86 or 79', 'undone', 'What is 7 plus 79?'],
    ['86', 'sum: 7, 79, 86', 'undone', 'What is 7 plus 79?'],
    ['86', '86 865', 'undone', 'What is 7 plus 79?'],
    ['2.142857142857143', '2.14', 'unclear'],
    ['2.142857142857143', '2.1', 'undone'],
    ['2.142857142857143', '2.15', 'undone'],
    ['2 + 2 = 4\nAnswer: 4', '4', 'done'],
    ['2 + 2 = 4\nAnswer: 4', '5', 'undone'],
    ['2 + 2 = 4\nAnswer: 4', 'two and two\n4', 'done'],
    ['2 + 2 = 4\nAnswer: 4', '4\n5', 'undone'],
  ]
  test.each(cases)('%j, said as %j: %s', (wanted, given, status, prompt) => {
    const reference = referenceOf({ answer: wanted, ...(prompt !== undefined && { prompt }) })
    const seen = ['Paris', 'Berlin', 'Rome', 'bread']
    expect(checkOutcome(reference, { state: { items: ['a'] }, answer: given }, seen).status).toBe(status)
  })
})

test('an answer of quotes without end is compared in linear time', () => {
  const task = {
    id: 'a',
    kind: 'a',
    seed: 0,
    split: 'train',
    prompt: 'Who?',
    difficulty: 1,
    context: {},
  } as Task
  const reference: Reference = {
    task,
    calls: [],
    changes: [],
    shown: false,
    start: null,
    end: null,
    unstable: new Set(),
    answer: 'Ada',
    reward: 1,
  }
  const outcome = { state: null, answer: `x${'"'.repeat(50_000)}x` }
  expect(checkOutcome(reference, outcome, ['Ada']).status).not.toBe('done')
})

test('an answer that names what its value is of is compared by the value', () => {
  const statusOf = (answer: string, given: string) =>
    checkOutcome(referenceOf({ answer }), { state: { items: ['a'] }, answer: given }).status
  expect(statusOf('price: 12', 'price: 12')).toBe('done')
  expect(statusOf('price: 12', '12')).toBe('done')
  expect(statusOf('name: Blue ink, price: 12', 'price: 12')).toBe('unclear')
  expect(statusOf('shared_buffers: 163848kB', 'rs: 163848kB')).toBe('unclear')
  for (const given of ['price: 125', 'price: 112', '13', 'price: -12', 'price: 12 or 13', 'price: ', ''])
    expect(statusOf('price: 12', given), given).toBe('undone')
  expect(statusOf('shared_buffers: 163848kB', 'shared_buffers: 48kB')).toBe('undone')
  expect(statusOf('name: Blue ink, price: 12', 'name: Blue ink, price: 15')).toBe('undone')
  // A time is no name.
  expect(statusOf('12:30', '30')).toBe('undone')
})

test('the value of such an answer is changed, and the names stay', () => {
  const change = (answer: string): string => changedAnswer((value) => `${value}5`, answer, [])
  expect(change('name: Blue ink, price: 12')).toBe('name: Blue ink, price: 125')
  expect(changedAnswer(() => '', 'city: Rome', [])).toBe('city: ')
  expect(change('12:30')).toBe('12:305')
})
