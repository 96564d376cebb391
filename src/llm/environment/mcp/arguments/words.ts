import { hash32 } from '../../../../engine/random/index.ts'
import type { Task } from '../../../agent/types.ts'
import { adjectiveAlone, adjectiveGroups, nounAlone, nounGroups } from './lexicon-data.ts'
import { remembered } from './remembered.ts'
import { cities, nouns, people, sorts, traits, zones } from './word-lists.ts'

/** A part of the words. Validation and test have parts of their own. */
export type Part = 'train' | 'validation' | 'test'

/**
 * Words of one split: nouns name things, traits describe them, cities are proper names, people are first names, sorts are kinds of things, zones are
 * time zones.
 */
export interface SplitWords {
  nouns: readonly string[]
  traits: readonly string[]
  cities: readonly string[]
  people: readonly string[]
  sorts: readonly string[]
  zones: readonly string[]
}

/** The part that a word belongs to: half are for training, a quarter each for validation and test. */
export function partOf(word: string): Part {
  const bucket = hash32('mcp-words', word) % 4
  return bucket < 2 ? 'train' : bucket === 2 ? 'validation' : 'test'
}

/** The words of a list that belong to the part. Parts share none. */
function part(list: string, split: Part): string[] {
  return list.split(' ').filter((word) => partOf(word) === split)
}

/**
 * Words of training are thousands. With a few dozen or hundred a model learns them by heart, and copies those that it has not
 * met badly. Half of the kinds of things, cities and people are usual ones.
 */
function listsOf(split: Part): SplitWords {
  const usual: SplitWords = {
    nouns: part(nouns, split),
    traits: part(traits, split),
    cities: part(cities, split),
    people: part(people, split),
    sorts: part(sorts, split),
    zones: part(zones, split),
  }
  if (split !== 'train') return usual
  const [things, qualities] = [
    furtherWords(nounGroups, nounAlone),
    furtherWords(adjectiveGroups, adjectiveAlone),
  ]
  const names = things.map((word) => `${word[0].toUpperCase()}${word.slice(1)}`)
  return {
    ...usual,
    nouns: [...usual.nouns, ...things],
    traits: [...usual.traits, ...qualities],
    cities: halfOf(usual.cities, names),
    people: halfOf(usual.people, names),
    sorts: halfOf(usual.sorts, things),
  }
}

/** Both lists, the shorter one so often that half of all draws are from it. */
function halfOf(few: readonly string[], many: readonly string[]): string[] {
  const times = Math.ceil(many.length / few.length)
  return [...Array.from({ length: times }, () => few).flat(), ...many]
}

/** The short words of these lists, without those of the lists that are divided. */
function furtherWords(...texts: readonly string[]): string[] {
  const lists = [nouns, traits, cities, people, sorts, zones].join(' ').toLowerCase()
  const divided = new Set(lists.split(' '))
  const words = new Set(texts.flatMap((text) => text.trim().split(/\s+/)))
  return [...words].filter((word) => /^[a-z]{3,9}$/.test(word) && !divided.has(word))
}

const lists = { train: listsOf('train'), validation: listsOf('validation'), test: listsOf('test') }

/** Returns the words of a split. Tasks with unseen paraphrases use the names of the test split. */
export function wordsOf(split: Task['split']): SplitWords {
  return lists[split === 'unseen-paraphrase' ? 'test' : split]
}

/** The part that these words are of; undefined for words of the caller's own. */
export function partOfWords(words: SplitWords): Part | undefined {
  return (['train', 'validation', 'test'] as const).find((part) => lists[part] === words)
}

/** `entityName`, `get-sum`, `READ_graph2` as spoken words in lower case. */
export const spoken = remembered((name): readonly string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase()),
)
