import { createRandom } from '../../random/index.ts'
import type { ChatMessage } from '../template.ts'
import { legendDeed, memorisedDeed } from './deed-stories.ts'
import type { Draw, WordPool } from './draw.ts'
import {
  aboutText,
  copying,
  keyValueJson,
  kindCounting,
  listPicking,
  pathWork,
  plainTalk,
} from './exercises.ts'
import { choosing, comparing } from './decisions.ts'
import * as lists from './tree-lists.ts'
import * as questions from './tree-questions.ts'
import * as stories from './tree-stories.ts'

interface Skill {
  weight: number
  make: (d: Draw) => ChatMessage[]
}

/** What the base corpus teaches, and in which proportion (weights are relative numbers of conversations). */
export const corpusSkills = {
  copying: { weight: 4, make: copying },
  'list picking': { weight: 3, make: listPicking },
  'kind counting': { weight: 5, make: kindCounting },
  'key-value and json': { weight: 5, make: keyValueJson },
  paths: { weight: 6, make: pathWork },
  'about a text': { weight: 4, make: aboutText },
  comparing: { weight: 5, make: comparing },
  choosing: { weight: 5, make: choosing },
  'plain talk': { weight: 1, make: plainTalk },
  'memorised tool': { weight: 4, make: memorisedDeed },
  'tool from a legend': { weight: 4, make: legendDeed },
  'read back': { weight: 4, make: questions.readBack },
  'read a part': { weight: 3, make: questions.readPart },
  'does it say': { weight: 4, make: questions.doesItSay },
  'ask of a list': { weight: 7, make: questions.askOfBox },
  'where is': { weight: 3, make: questions.whereIs },
  'seek and read': { weight: 3, make: questions.seekAndRead },
  'one effect': { weight: 10, make: stories.oneEffect },
  'several effects': { weight: 7, make: stories.severalEffects },
  'seek and do': { weight: 5, make: stories.seekAndDo },
  'make and store': { weight: 5, make: stories.makeAndStore },
  each: { weight: 3, make: lists.each },
  'make and fill': { weight: 5, make: lists.makeAndFill },
  duplicate: { weight: 4, make: stories.duplicate },
  'use of two': { weight: 2, make: stories.useOfTwo },
  condition: { weight: 14, make: stories.condition },
  trouble: { weight: 2, make: stories.trouble },
  'follow up': { weight: 2, make: stories.followUp },
  'act on listed': { weight: 2, make: stories.actOnListed },
} satisfies Record<string, Skill>

export type CorpusSkill = keyof typeof corpusSkills

const skills = Object.keys(corpusSkills) as CorpusSkill[]
const weights = skills.map((skill) => corpusSkills[skill].weight)

/**
 * One conversation of the base corpus: a function of the seed alone, from an unlimited supply. Words come from
 * `pool`, of which training and probes share none.
 */
export function corpusConversation(seed: number, pool: WordPool = 'train'): ChatMessage[] {
  const random = createRandom('corpus', pool, seed)
  return corpusSkills[skills[random.weighted(weights)]].make({ random, pool })
}

/** A conversation of one skill. */
export function skillConversation(skill: CorpusSkill, seed: number, pool: WordPool = 'train'): ChatMessage[] {
  return corpusSkills[skill].make({ random: createRandom('corpus-skill', skill, pool, seed), pool })
}
