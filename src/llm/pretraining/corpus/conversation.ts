import { createRandom } from '../../../engine/random/index.ts'
import type { ChatMessage } from '../../tokenizer/template.ts'
import {
  aboutText,
  copying,
  describedCall,
  keyValueJson,
  kindCounting,
  listPicking,
  memorisedCall,
  pathWork,
  plainTalk,
} from './exercises.ts'
import { isBenchmarkPhrase } from './benchmark-phrases.ts'
import type { Draw, WordPool } from './draw.ts'
import {
  choosing,
  choosingPlainly,
  comparing,
  condition,
  picking,
  ruling,
  weighedCondition,
} from './decisions.ts'
import * as stories from './tree-stories.ts'
import { each, makeAndFill } from './tree-stories.ts'
import * as questions from './tree-questions.ts'
import { lexiconWords } from './lexicon.ts'
import { inOtherWords } from './paraphrase.ts'
import { actOnRecords, changeRecords } from './record-changes.ts'
import { askOfRecords } from './record-stories.ts'
import { describedServer, unseenServer, unseenWords } from './servers/described-server.ts'

/** Skills that a base corpus can teach. */
export const corpusSkills = {
  copying: copying,
  'list picking': listPicking,
  'kind counting': kindCounting,
  'key-value and json': keyValueJson,
  paths: pathWork,
  'about a text': aboutText,
  comparing: comparing,
  choosing: choosing,
  'plain talk': plainTalk,
  'memorised tool': memorisedCall,
  'tool from a legend': describedCall,
  'read back': questions.readBack,
  'read a part': questions.readPart,
  'does it say': questions.doesItSay,
  'ask of a list': questions.askOfBox,
  'where is': questions.whereIs,
  'seek and read': questions.seekAndRead,
  'one effect': stories.oneEffect,
  'several effects': stories.severalEffects,
  'seek and do': stories.seekAndDo,
  'make and store': stories.makeAndStore,
  each,
  'make and fill': makeAndFill,
  duplicate: stories.duplicate,
  'use of two': stories.useOfTwo,
  condition,
  trouble: stories.trouble,
  'follow up': stories.followUp,
  'act on listed': stories.actOnListed,
  'choosing plainly': choosingPlainly,
  picking,
  'weighed condition': weighedCondition,
  ruling,
  'ask of records': askOfRecords,
  'change records': changeRecords,
  'act on records': actOnRecords,
  'many effects': stories.manyEffects,
  'described server': describedServer,
  // Only evaluated: no stage has them.
  'unseen server': unseenServer,
  'unseen words': unseenWords,
} satisfies Record<string, (d: Draw) => ChatMessage[]>

export type CorpusSkill = keyof typeof corpusSkills

type Schedule = Partial<Record<CorpusSkill, number>>

const general = {
  copying: 4,
  'list picking': 3,
  'kind counting': 5,
  'key-value and json': 5,
  paths: 6,
  'about a text': 4,
  comparing: 5,
  choosing: 5,
  'plain talk': 1,
  'memorised tool': 4,
  'tool from a legend': 4,
  'read back': 4,
  'read a part': 3,
  'does it say': 4,
  'ask of a list': 7,
  'where is': 3,
  'seek and read': 3,
  'one effect': 10,
  'several effects': 7,
  'seek and do': 5,
  'make and store': 5,
  each: 3,
  'make and fill': 5,
  duplicate: 4,
  'use of two': 2,
  condition: 14,
  trouble: 2,
  'follow up': 2,
  'act on listed': 2,
} satisfies Schedule

/**
 * Relative number of conversations per skill and stage. `general` makes a base model. `decisions`, trained after it, is half
 * about acting by a condition, which a model of this size learns only from many examples. `records`, trained after both, is
 * half about reading and changing lists of records with memorised tools. `described`, also trained after the first two, is
 * half about servers that are described in the prompt. These two draw the words of all skills from the lexicon.
 */
export const corpusStages = {
  general,
  decisions: {
    ...general,
    comparing: 8,
    choosing: 0,
    'choosing plainly': 30,
    picking: 30,
    'does it say': 15,
    condition: 0,
    'weighed condition': 25,
    ruling: 25,
  },
  records: {
    ...general,
    choosing: 0,
    condition: 0,
    comparing: 10,
    'choosing plainly': 14,
    picking: 8,
    'weighed condition': 14,
    ruling: 8,
    'ask of records': 100,
    'change records': 50,
    'act on records': 40,
    'many effects': 14,
  },
  described: {
    ...general,
    choosing: 0,
    condition: 0,
    'choosing plainly': 8,
    picking: 8,
    'weighed condition': 10,
    ruling: 8,
    'described server': 160,
  },
} satisfies Record<string, Schedule>

export type CorpusStage = keyof typeof corpusStages

/**
 * One conversation of a stage, from an unlimited supply. Depends only on its arguments. Words come from `pool`; the pools of
 * training and skill evaluation are disjoint.
 */
export function corpusConversation(
  seed: number,
  pool: WordPool = 'train',
  stage: CorpusStage = 'general',
): ChatMessage[] {
  const random =
    stage === 'general' ? createRandom('corpus', pool, seed) : createRandom('corpus', stage, pool, seed)
  const skills = Object.keys(corpusStages[stage]) as CorpusSkill[]
  const weights = Object.values(corpusStages[stage])
  if (stage === 'general' || stage === 'decisions')
    return corpusSkills[skills[random.weighted(weights)]]({ random, pool })
  const d: Draw = { random, pool, lexicon: lexiconWords }
  for (;;) {
    const skill = skills[random.weighted(weights)]
    const drawn = corpusSkills[skill](d)
    const messages = skill === 'described server' ? drawn : inOtherWords(d, drawn)
    // By chance a skill may say six words in a row that a request of the benchmark says.
    if (!messages.some(({ role, text }) => role === 'user' && isBenchmarkPhrase(text))) return messages
  }
}

/** A conversation of one skill. */
export function skillConversation(skill: CorpusSkill, seed: number, pool: WordPool = 'train'): ChatMessage[] {
  return corpusSkills[skill]({ random: createRandom('corpus-skill', skill, pool, seed), pool })
}
