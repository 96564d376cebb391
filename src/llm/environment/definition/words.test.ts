import { expect, test } from 'vitest'
import { splitOfWord, wordLists } from './words.ts'

const splits = ['train', 'validation', 'test'] as const
const wordsOf = (split: (typeof splits)[number]): string[] => Object.values(wordLists(split)).flat()

test('no word is in two splits or in two lists', () => {
  const all = splits.flatMap(wordsOf)
  expect(new Set(all).size).toBe(all.length)
  expect(all.length).toBeGreaterThan(900)
  for (const split of splits) for (const word of wordsOf(split)) expect(splitOfWord(word)).toBe(split)
})

test('every list of every split is long enough for an initial state, and most words are for training', () => {
  for (const split of splits)
    for (const list of Object.values(wordLists(split))) expect(list.length).toBeGreaterThan(9)
  expect(wordsOf('train').length).toBeGreaterThan(2 * (wordsOf('test').length + wordsOf('validation').length))
})
