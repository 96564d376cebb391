import { expect, test } from 'vitest'
import { hasValue, typeOfValue } from './value.ts'

test('numbers are equal by value, in words and rounded', () => {
  const half = { type: 'number', answer: '1250.5' } as const
  for (const given of ['1250.5', '1,250.50', 'The total is 1250.5.', '**1250.5**'])
    expect(hasValue(given, half)).toBe(true)
  for (const given of ['1250', '125', '1251', '1250.5.75', '1250.5 or 7 or 8 or 9', '', null])
    expect(hasValue(given, half)).toBe(false)
  expect(hasValue('3.33', { type: 'number', answer: '3.3333333333333335' })).toBe(true)
  expect(hasValue('3.3', { type: 'number', answer: '3.3333333333333335' })).toBe(false)
  expect(hasValue('There are three contacts.', { type: 'number', answer: '3' })).toBe(true)
  // Repeating the request is no listing of values; naming another value of the result is.
  for (const given of ['17 plus 4 is 21', 'id 17, price: 21', 'id: 17, price: 21', 'Result: 17 plus 4 is 21'])
    expect(hasValue(given, { type: 'number', answer: '21' })).toBe(true)
  for (const given of [
    '21: 17',
    '17: 4: 21',
    '17, 4, 21',
    '17 4 is 21 is 17',
    '21 215',
    '21 is 17 plus 4',
    '17 or 21',
    '21 or two',
    '--21',
    'ratio 21, latency 150ms',
    'it is 21 150ms',
  ])
    expect(hasValue(given, { type: 'number', answer: '21' })).toBe(false)
  expect(hasValue('-21', { type: 'number', answer: '-21' })).toBe(true)
  for (const given of ['--21', '21', 'it is --21'])
    expect(hasValue(given, { type: 'number', answer: '-21' })).toBe(false)
  expect(hasValue('21 or 36', { type: 'number', answer: '21', others: ['36'] })).toBe(false)
})

test('dates are equal in several notations', () => {
  const date = { type: 'date', answer: '2026-03-04' } as const
  for (const given of ['2026-03-04', '2026/3/4', 'March 4, 2026', '4 March 2026'])
    expect(hasValue(given, date)).toBe(true)
  for (const given of ['2026-04-03', 'March 2026']) expect(hasValue(given, date)).toBe(false)
})

test('case matters in codes, and where it tells two values apart', () => {
  expect(hasValue('cloudy', { type: 'text', answer: 'Cloudy' })).toBe(true)
  expect(hasValue('bb', { type: 'text', answer: 'Bb', others: ['bB'] })).toBe(false)
  expect(hasValue('Rain, 36 and Cloudy', { type: 'text', answer: 'Cloudy', others: ['36'] })).toBe(false)
  expect(hasValue('in /notes/a.txt', { type: 'text', answer: '/notes/a.txt' })).toBe(true)
  expect(hasValue('/NOTES/A.TXT', { type: 'text', answer: '/notes/a.txt' })).toBe(false)
  expect(hasValue('65536kb', { type: 'text', answer: '65536kB' })).toBe(false)
  expect(hasValue('key not found: bagel-55', { type: 'text', answer: 'Key not found: bagel-55' })).toBe(true)
  expect(hasValue('Key not found: BAGEL-55', { type: 'text', answer: 'Key not found: bagel-55' })).toBe(false)
  expect(hasValue('In London, it is cloudy', { type: 'text', answer: 'Cloudy' })).toBe(true)
  for (const given of [
    'Cloudy or sunny',
    'Cloudy, London, 36',
    'Rainy; sunny; cloudy',
    'Cloudy:5',
    'Cloudy cloudys',
    'Cloudy.s',
    'Cloudy\nWarm',
  ])
    expect(hasValue(given, { type: 'text', answer: 'Cloudy' })).toBe(false)
})

test('lists are sets, and the right answer may be that there is none', () => {
  const ranked = { type: 'list', answer: 'Ada, Grace, Edsger', ordered: true } as const
  expect(hasValue('names: Ada, Grace and Edsger', ranked)).toBe(true)
  expect(hasValue('Grace, Ada, Edsger', ranked)).toBe(false)
  const names = { type: 'list', answer: 'Ada, Grace, Edsger' } as const
  for (const given of ['Grace, Ada and Edsger', 'ada\ngrace\nedsger', 'The names are: Ada, Grace, Edsger'])
    expect(hasValue(given, names)).toBe(true)
  for (const given of ['Ada, Grace', 'Ada, Grace, Edsger, Alan', 'Ada, Ada, Grace'])
    expect(hasValue(given, names)).toBe(false)
  const none = { type: 'none', answer: 'there is none' } as const
  for (const given of ['There is no such contact.', 'not found']) expect(hasValue(given, none)).toBe(true)
  for (const given of ['Ada', '', 'done', 'Error: table "4" does not exist'])
    expect(hasValue(given, none)).toBe(false)
  expect(hasValue('-0, 1, 2', { type: 'list', answer: '0, 1, 2' })).toBe(false)
  expect(hasValue('Yes, it is.', { type: 'boolean', answer: 'true' })).toBe(true)
  expect(hasValue('yes or no', { type: 'boolean', answer: 'true' })).toBe(false)
})

test('the type of a value follows from it', () => {
  expect([3, 'true', '4.5', '2026-03-04', 'May', true].map(typeOfValue)).toEqual([
    'number',
    'text',
    'number',
    'date',
    'text',
    'boolean',
  ])
})

test('long runs of quotes and blanks in an answer are read in linear time', () => {
  for (const run of ['"', ' ', "'`", 'a', '1', ',', '.', '\n', ' \n'].map((piece) => piece.repeat(50_000)))
    for (const type of ['number', 'text', 'list', 'date', 'boolean', 'none'] as const)
      expect(hasValue(`x${run}x`, { type, answer: 'Ada' })).toBe(false)
  expect(hasValue('a  ,  b and\tc', { type: 'list', answer: 'c, b, a' })).toBe(true)
  expect(hasValue('""Ada"\'', { type: 'text', answer: 'Ada' })).toBe(true)
})
