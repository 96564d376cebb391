import { nouns as spokenNouns, verbs as spokenVerbs } from '../../environment/mcp/request/lexicon.ts'
import { isHeldOut, pick } from './draw.ts'
import type { Draw, WordPool } from './draw.ts'
import {
  adjectiveAlone,
  adjectiveGroups,
  nounAlone,
  nounGroups,
  verbAlone,
  verbGroups,
} from '../../environment/mcp/arguments/lexicon-data.ts'
import { unseenVerbs } from './servers/action-words.ts'
import { isReservedName } from './words.ts'

// Everyday words of English with their synonyms, from WordNet (`scripts/lexicon.mjs`).

export type WordClass = 'noun' | 'verb' | 'adjective'

interface WordList {
  /** All words of a pool. */
  words: { train: readonly string[]; heldOut: readonly string[] }
  /** Words with a synonym, of both pools, and their synonyms. */
  synonyms: ReadonlyMap<string, readonly string[]>
}

const texts: Record<WordClass, readonly [groups: string, alone: string]> = {
  noun: [nounGroups, nounAlone],
  verb: [verbGroups, verbAlone],
  adjective: [adjectiveGroups, adjectiveAlone],
}

// Read at first use, not at import.
const lists = new Map<WordClass, WordList>()

function listOf(kind: WordClass): WordList {
  const known = lists.get(kind)
  if (known !== undefined) return known
  const [groupText, aloneText] = texts[kind]
  const groups = groupText
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map((word) => word.replaceAll('_', ' ')))
  if (kind === 'noun')
    for (const { usual, rare } of spokenNouns.values())
      groups.push([...usual, ...rare.filter((word) => word !== '')])
  const synonyms = new Map<string, string[]>()
  for (const group of groups)
    for (const word of group)
      synonyms.set(word, [
        ...new Set([...(synonyms.get(word) ?? []), ...group.filter((other) => other !== word)]),
      ])
  const all = [...new Set([...groups.flat(), ...aloneText.trim().split(/\s+/)])].filter(
    (word) => !/[ _]/.test(word) && !isReservedName(word),
  )
  const list = {
    words: {
      train: all.filter((word) => !isHeldOutWord(word)),
      heldOut: all.filter(isHeldOutWord),
    },
    synonyms,
  }
  lists.set(kind, list)
  return list
}

let rareWords: ReadonlySet<string> | undefined

/**
 * Whether a word, or a phrase of several, is kept out of training: one in twelve by its hash, and the rare nouns and verbs of
 * MCP tasks and of the evaluation, which no training task uses either.
 */
export function isHeldOutWord(word: string): boolean {
  rareWords ??= new Set([
    ...unseenVerbs(),
    ...[...spokenNouns.values(), ...spokenVerbs.values()].flatMap(({ rare }) => rare),
  ])
  return rareWords.has(word) || isHeldOut(word)
}

/** All single words of a class and pool. */
export const lexiconWords = (kind: WordClass, pool: WordPool): readonly string[] =>
  pool === 'train' ? listOf(kind).words.train : listOf(kind).words.heldOut

/** A word of the pool. */
export const lexiconWord = (d: Draw, kind: WordClass): string => pick(d, lexiconWords(kind, d.pool))

/** The synonyms of a word that belong to a pool. */
export function synonymsOf(kind: WordClass, word: string, pool: WordPool): readonly string[] {
  return (listOf(kind).synonyms.get(word) ?? []).filter(
    (other) => isHeldOutWord(other) === (pool === 'probe'),
  )
}
