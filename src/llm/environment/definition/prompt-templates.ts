import { AgogeError } from '../../../error.ts'
import { hash32 } from '../../../engine/random/index.ts'
import type { Random } from '../../../engine/random/index.ts'
import type { WordSplit } from './words.ts'

/** One prompt template: its pattern, the alternative taken at each choice, and its text with `<placeholders>`. */
export interface PromptTemplate {
  pattern: number
  choices: readonly string[]
  text: string
}

export interface PromptTemplates {
  /** Every template that the patterns can make. */
  all: readonly PromptTemplate[]
  /**
   * Draws a template of one split.
   *
   * @throws AgogeError if the split has none.
   */
  draw(split: WordSplit, random: Random): PromptTemplate
  of(split: WordSplit): readonly PromptTemplate[]
}

/**
 * Makes prompt templates that are disjoint between splits. A pattern is text with choices, `[make|create|]`, and
 * placeholders for names, `<folder>`.
 *
 * A hash divides the expanded templates into train (72%), validation (11%) and test (17%). Every alternative and every
 * word of a validation or test template also occurs in training, so a test template is a new combination of known
 * parts. If the hash leaves validation or test empty, one template moves there. The pattern `[Add|Put] <item> [on|to]
 * my list` is enough for all three splits.
 *
 * @example
 * const templates = createPromptTemplates('add', ['[Add|Put] <item> [on|to] my list'])
 * templates.draw('test', createRandom(1)).text
 */
export function createPromptTemplates(name: string, patterns: readonly string[]): PromptTemplates {
  // Expanded on first use, so that importing the library does not expand every environment's templates.
  let made: Expanded | undefined
  const expanded = (): Expanded => (made ??= divide(name, patterns))
  return {
    get all() {
      return expanded().all
    },
    of: (split) => expanded().parts[split],
    draw(split, random) {
      const templates = expanded().parts[split]
      if (templates.length > 0) return random.pick(templates)
      throw new AgogeError(`${name} has no prompt template of the split ${split}`, {
        code: 'empty-split',
        given: patterns.join('; '),
        expected: 'patterns with at least two places of choice, of which each split gets compositions',
        hint: 'Write alternatives: [Add|Put] <item> [on|to] my list',
      })
    },
  }
}

interface Expanded {
  all: readonly PromptTemplate[]
  parts: Record<WordSplit, PromptTemplate[]>
}

function divide(name: string, patterns: readonly string[]): Expanded {
  const all = patterns.flatMap((pattern, index) => expand(pattern, index))
  const parts: Record<WordSplit, PromptTemplate[]> = { train: [], validation: [], test: [] }
  // How many training templates have each alternative and each word.
  const left = new Map<string, number>()
  for (const template of all) for (const key of partsOf(template)) left.set(key, (left.get(key) ?? 0) + 1)
  // 'phrase' keys the hash, so that the splits match those of earlier runs.
  const share = (template: PromptTemplate): number =>
    hash32('phrase', name, template.pattern, template.choices.join('|')) / 2 ** 32
  const isSpared = (template: PromptTemplate): boolean =>
    partsOf(template).every((key) => (left.get(key) ?? 0) > 1)
  const holdOut = (template: PromptTemplate, split: WordSplit): void => {
    parts[split].push(template)
    for (const key of partsOf(template)) left.set(key, (left.get(key) ?? 0) - 1)
  }
  for (const template of all) {
    const drawn = share(template)
    if (drawn >= 0.28 || !isSpared(template)) parts.train.push(template)
    else holdOut(template, drawn < 0.17 ? 'test' : 'validation')
  }
  for (const [split, other] of [
    ['test', 'validation'],
    ['validation', 'test'],
  ] as const) {
    if (parts[split].length > 0) continue
    const at = parts.train.findIndex(isSpared)
    if (at >= 0) holdOut(parts.train.splice(at, 1)[0], split)
    else if (parts[other].length > 1) parts[split].push(...parts[other].splice(-1))
  }
  return { all, parts }
}

/** Inserts the values for the placeholders and capitalises the first letter. */
export function fillTemplate(text: string, holes: Readonly<Record<string, string>>): string {
  const filled = text.replace(/<(\w+)>/g, (_, hole: string) => {
    const value = holes[hole]
    if (value === undefined) {
      throw new AgogeError(`The prompt template has a hole that nothing fills: <${hole}>.`, {
        code: 'bad-template',
        given: text,
        expected: `one of ${Object.keys(holes).join(', ')}`,
      })
    }
    return value
  })
  return filled.charAt(0).toUpperCase() + filled.slice(1)
}

/** The words of a template without its placeholders, as they stand in the request. */
export function templateWords(text: string): string[] {
  return fillTemplate(text, new Proxy({}, { get: () => '/' }))
    .split(/[^A-Za-z']+/)
    .filter((word) => word !== '')
}

function expand(pattern: string, index: number): PromptTemplate[] {
  let templates: PromptTemplate[] = [{ pattern: index, choices: [], text: '' }]
  for (const piece of pattern.split(/(\[[^\]]*\])/)) {
    const options = piece.startsWith('[') ? piece.slice(1, -1).split('|') : undefined
    templates = templates.flatMap((template) =>
      options === undefined
        ? [{ ...template, text: template.text + piece }]
        : options.map((option) => ({
            pattern: index,
            choices: [...template.choices, option],
            text: template.text + option,
          })),
    )
  }
  return templates
}

/** The alternatives and words that training must keep when this template moves to another split. */
function partsOf(template: PromptTemplate): string[] {
  return [
    ...template.choices.map((choice, place) => `${template.pattern} ${place} ${choice}`),
    ...new Set(templateWords(template.text).map((word) => `word ${word}`)),
  ]
}
