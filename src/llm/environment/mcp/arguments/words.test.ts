import { expect, test } from 'vitest'
import { wordsOf, type SplitWords } from './words.ts'

const [train, validation, held] = (['train', 'validation', 'test'] as const).map(wordsOf)
const topics = ['nouns', 'traits', 'cities', 'people', 'sorts'] as const

test('words of training are thousands, and no topic shares one with validation or test', () => {
  for (const topic of topics) {
    const [known, others] = [new Set(train[topic]), [...validation[topic], ...held[topic]]]
    expect(known.size).toBeGreaterThan(1000)
    expect(others.filter((word) => known.has(word))).toEqual([])
  }
})

test('half of the kinds of things, cities and people of training are usual ones', () => {
  // Each usual word is in the list many times.
  const share = (words: SplitWords, topic: (typeof topics)[number]): number => {
    const times = new Map<string, number>()
    for (const word of words[topic]) times.set(word, (times.get(word) ?? 0) + 1)
    return words[topic].filter((word) => (times.get(word) ?? 0) > 1).length / words[topic].length
  }
  for (const topic of ['cities', 'people', 'sorts'] as const) expect(share(train, topic)).toBeCloseTo(0.5, 1)
  expect(share(train, 'nouns')).toBe(0)
})
