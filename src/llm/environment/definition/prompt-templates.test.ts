import { expect, test } from 'vitest'
import { createRandom } from '../../../engine/random/index.ts'
import { createPromptTemplates, fillTemplate, templateWords } from './prompt-templates.ts'

const patterns = [
  '[Please |Can you |]make [a|the|one more] <thing> [now|soon|]',
  '<thing> [please|if you can]',
]

test('every combination is expanded once and belongs to one split', () => {
  const templates = createPromptTemplates('example', patterns)
  expect(templates.all).toHaveLength(3 * 3 * 3 + 2)
  const parts = (['train', 'validation', 'test'] as const).map((split) => templates.of(split))
  expect(parts.flat()).toHaveLength(templates.all.length)
  expect(new Set(parts.flat().map(({ text }) => text)).size).toBe(templates.all.length)
  for (const part of parts) expect(part.length).toBeGreaterThan(0)
})

test('a held-out template is a new combination of alternatives and words from training', () => {
  const templates = createPromptTemplates('example', patterns)
  const choices = (text: readonly { pattern: number; choices: readonly string[] }[]): Set<string> =>
    new Set(
      text.flatMap((template) => template.choices.map((choice, i) => `${template.pattern}/${i}/${choice}`)),
    )
  const known = choices(templates.of('train'))
  for (const split of ['validation', 'test'] as const) {
    for (const choice of choices(templates.of(split))) expect(known).toContain(choice)
  }
})

test('a draw depends only on the random stream', () => {
  const templates = createPromptTemplates('example', patterns)
  const draw = (): string[] => {
    const random = createRandom(5)
    return Array.from({ length: 10 }, () => templates.draw('train', random).text)
  }
  expect(draw()).toEqual(draw())
  expect(new Set(draw()).size).toBeGreaterThan(3)
})

test('fills holes, starts with a capital, and names a hole that stays empty', () => {
  expect(fillTemplate('make the <thing>', { thing: 'boat' })).toBe('Make the boat')
  expect(() => fillTemplate('make the <thing>', { boat: 'x' })).toThrow('<thing>')
  expect(templateWords("look at <thing>, don't wait")).toEqual(['Look', 'at', "don't", 'wait'])
})
