import { AgogeError } from '../../error.ts'
import { hash32 } from '../../engine/random/index.ts'
import type { Random } from '../../engine/random/index.ts'
import type { WordSplit } from './words.ts'

/** One wording of a request: the pattern it came from, the choice taken at each place, and its text with `<holes>`. */
export interface Phrase {
  pattern: number
  choices: readonly string[]
  text: string
}

export interface PhraseGrammar {
  /** Every wording the patterns can make. */
  phrases: readonly Phrase[]
  /** A wording of one part; train, validation and test share none. */
  draw(split: WordSplit, random: Random): Phrase
  of(split: WordSplit): readonly Phrase[]
}

/**
 * A compositional grammar of requests. A pattern is text with places of choice, `[make|create|]`, and holes for
 * names, `<folder>`. The wordings (tuples of choices) are divided by hash into train (72%), validation (11%) and
 * test (17%), such that each choice of each place, and each word, also occurs in training: a test wording is a new
 * composition of familiar parts.
 */
export function createPhraseGrammar(name: string, patterns: readonly string[]): PhraseGrammar {
  // Expanded at the first use: a program that imports the library does not pay for the phrases of every environment.
  let made: ExpandedGrammar | undefined
  const grammar = (): ExpandedGrammar => (made ??= expandGrammar(name, patterns))
  return {
    get phrases() {
      return grammar().phrases
    },
    draw: (split, random) => random.pick(grammar().parts[split]),
    of: (split) => grammar().parts[split],
  }
}

interface ExpandedGrammar {
  phrases: readonly Phrase[]
  parts: Record<WordSplit, Phrase[]>
}

function expandGrammar(name: string, patterns: readonly string[]): ExpandedGrammar {
  const phrases = patterns.flatMap((pattern, index) => expand(pattern, index))
  const parts: Record<WordSplit, Phrase[]> = { train: [], validation: [], test: [] }
  const left = new Map<string, number>()
  for (const phrase of phrases) for (const key of places(phrase)) left.set(key, (left.get(key) ?? 0) + 1)
  const share = (phrase: Phrase): number =>
    hash32('phrase', name, phrase.pattern, phrase.choices.join('|')) / 2 ** 32
  for (const phrase of phrases) {
    const drawn = share(phrase)
    const keys = places(phrase)
    const spared = keys.every((key) => (left.get(key) ?? 0) > 1)
    if (drawn >= 0.28 || !spared) {
      parts.train.push(phrase)
      continue
    }
    parts[drawn < 0.17 ? 'test' : 'validation'].push(phrase)
    for (const key of keys) left.set(key, (left.get(key) ?? 0) - 1)
  }
  return { phrases, parts }
}

/** Puts the names into the holes and a capital at the start. */
export function fillPhrase(text: string, holes: Readonly<Record<string, string>>): string {
  const filled = text.replace(/<(\w+)>/g, (_, hole: string) => {
    const value = holes[hole]
    if (value === undefined) {
      throw new AgogeError(`The phrase has a hole that nothing fills: <${hole}>.`, {
        code: 'bad-phrase',
        given: text,
        expected: `one of ${Object.keys(holes).join(', ')}`,
      })
    }
    return value
  })
  return filled.charAt(0).toUpperCase() + filled.slice(1)
}

/** The words of a wording itself, holes left out, as they stand in the request. */
export function phraseWords(text: string): string[] {
  return fillPhrase(text, new Proxy({}, { get: () => '/' }))
    .split(/[^A-Za-z']+/)
    .filter((word) => word !== '')
}

function expand(pattern: string, index: number): Phrase[] {
  let phrases: Phrase[] = [{ pattern: index, choices: [], text: '' }]
  for (const piece of pattern.split(/(\[[^\]]*\])/)) {
    const options = piece.startsWith('[') ? piece.slice(1, -1).split('|') : undefined
    phrases = phrases.flatMap((phrase) =>
      options === undefined
        ? [{ ...phrase, text: phrase.text + piece }]
        : options.map((option) => ({
            pattern: index,
            choices: [...phrase.choices, option],
            text: phrase.text + option,
          })),
    )
  }
  return phrases
}

/** What must not vanish from training when this wording is held out. */
function places(phrase: Phrase): string[] {
  return [
    ...phrase.choices.map((choice, place) => `${phrase.pattern} ${place} ${choice}`),
    ...new Set(phraseWords(phrase.text).map((word) => `word ${word}`)),
  ]
}
