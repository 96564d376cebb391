import { expect, test } from 'vitest'
import { createRandom } from '../../engine/random/index.ts'
import { createPhraseGrammar, fillPhrase, phraseWords } from './phrase-grammar.ts'

const patterns = [
  '[Please |Can you |]make [a|the|one more] <thing> [now|soon|]',
  '<thing> [please|if you can]',
]

test('expands every composition once and divides them without overlap', () => {
  const grammar = createPhraseGrammar('example', patterns)
  expect(grammar.phrases).toHaveLength(3 * 3 * 3 + 2)
  const parts = (['train', 'validation', 'test'] as const).map((split) => grammar.of(split))
  expect(parts.flat()).toHaveLength(grammar.phrases.length)
  expect(new Set(parts.flat().map(({ text }) => text)).size).toBe(grammar.phrases.length)
  for (const part of parts) expect(part.length).toBeGreaterThan(0)
})

test('what is held out is a new composition of choices and words that training has', () => {
  const grammar = createPhraseGrammar('example', patterns)
  const choices = (text: readonly { pattern: number; choices: readonly string[] }[]): Set<string> =>
    new Set(text.flatMap((phrase) => phrase.choices.map((choice, i) => `${phrase.pattern}/${i}/${choice}`)))
  const known = choices(grammar.of('train'))
  for (const split of ['validation', 'test'] as const) {
    for (const choice of choices(grammar.of(split))) expect(known).toContain(choice)
  }
})

test('draws by the stream alone', () => {
  const grammar = createPhraseGrammar('example', patterns)
  const draw = (): string[] => {
    const random = createRandom(5)
    return Array.from({ length: 10 }, () => grammar.draw('train', random).text)
  }
  expect(draw()).toEqual(draw())
  expect(new Set(draw()).size).toBeGreaterThan(3)
})

test('fills holes, starts with a capital, and names a hole that stays empty', () => {
  expect(fillPhrase('make the <thing>', { thing: 'boat' })).toBe('Make the boat')
  expect(() => fillPhrase('make the <thing>', { boat: 'x' })).toThrow('<thing>')
  expect(phraseWords("look at <thing>, don't wait")).toEqual(['Look', 'at', "don't", 'wait'])
})
