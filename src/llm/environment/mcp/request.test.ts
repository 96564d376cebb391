import { expect, test } from 'vitest'
import { createRandom } from '../../../engine/random/index.ts'
import { renderRequest, toolWords } from './request.ts'
import type { RequestStep } from './request.ts'
import { spoken, wordsOf } from './arguments/words.ts'

const splits = ['train', 'validation', 'test'] as const
const steps: RequestStep[] = [
  { tool: 'get-sum', arguments: { a: 17, b: 4 } },
  { tool: 'echo', arguments: { message: '' }, linked: 'message' },
]

function prompts(
  split: 'train' | 'validation' | 'test' | 'unseen-wording',
  of: readonly RequestStep[],
  count = 400,
) {
  const kinds = [
    undefined,
    { kind: 'whole' as const },
    { kind: 'field' as const, path: ['x'], words: 'entity type' },
  ]
  return Array.from({ length: count }, (_, seed) =>
    renderRequest(of, kinds[seed % kinds.length], split, createRandom(seed, split)),
  )
}

const wordsIn = (texts: readonly string[]) =>
  new Set(texts.flatMap((text) => text.match(/[a-z]+|[^a-z\s]/g) ?? []))

test('splits share no request, and no name', () => {
  for (const of of [steps, steps.slice(0, 1), [{ tool: 'read_graph', arguments: {} }]]) {
    const sets = splits.map((split) => new Set(prompts(split, of)))
    expect(sets[0].size).toBeGreaterThan(10)
    expect([...sets[1], ...sets[2]].filter((text) => sets[0].has(text))).toEqual([])
    expect([...sets[2]].filter((text) => sets[1].has(text))).toEqual([])
  }
  const lists = splits.map((split) => Object.values(wordsOf(split)).flat() as string[])
  for (const list of lists) expect(list.length).toBeGreaterThan(60)
  expect(new Set(lists.flat()).size).toBe(lists.flat().length)
})

test('every word of a test request occurs in training; unseen paraphrases do not', () => {
  const train = wordsIn(prompts('train', steps, 2000))
  expect([...wordsIn(prompts('test', steps))].filter((word) => !train.has(word))).toEqual([])
  const known = new Set(prompts('train', steps, 2000))
  expect(prompts('unseen-wording', steps).filter((text) => known.has(text))).toEqual([])
  const news = [...wordsIn(prompts('unseen-wording', steps))].filter((word) => !train.has(word))
  expect(news.length).toBeGreaterThan(10)
})

test('a request states every argument', () => {
  const args = {
    entities: [{ name: 'river', entityType: 'place', observations: ['cold water', 'blue'] }],
    deep: true,
  }
  for (const text of prompts('train', [{ tool: 'create_entities', arguments: args }], 60)) {
    for (const part of [
      'create entities',
      'name',
      'river',
      'entity type',
      'place',
      'cold water and blue',
      'deep',
      'true',
    ]) {
      expect(text).toContain(part)
    }
  }
})

test('names of tools and arguments become spoken words', () => {
  expect(spoken('entityNames')).toEqual(['entity', 'names'])
  expect(spoken('HTTPServer_url2')).toEqual(['http', 'server', 'url2'])
  expect(toolWords('get-sum-tool')).toBe('get sum')
  expect(toolWords('tool')).toBe('tool')
})
