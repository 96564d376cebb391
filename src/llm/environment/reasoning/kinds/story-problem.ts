import type { Random } from '../../../../engine/random/index.ts'
import { defineKind } from '../kind.ts'
import { between } from '../shared/draws.ts'
import { scoreNumber } from '../shared/scores.ts'
import { kinds, people } from '../shared/words.ts'

/** One event: what is told and how it is counted. */
interface Event {
  says: string
  counts: string
  after: number
}

/** Stories in which things are gained, lost, shared and multiplied. */
export const storyProblem = defineKind({
  name: 'story-problem',
  about: 'how many things somebody has after some events',
  knobs: {
    events: { least: 1, most: 6, about: 'in the story' },
    largest: { least: 9, most: 99, about: 'number of things in it' },
    factors: { least: 0, most: 1, about: '1 = also doubling, tripling and giving away a half' },
  },
  levels: [
    { events: 1, largest: 20, factors: 0 },
    { events: 2, largest: 20, factors: 1 },
    { events: 4, largest: 50, factors: 1 },
  ],
  templates: [
    '<story> How many <things> does <name> have [now|in the end|at last]',
    '<story> [Tell me|Find out|Work out|Say] how many <things> <name> has [now|in the end|at last]',
    '[Listen:|A story:] <story> [What is the number of <things> that <name> has|How many <things> are left with <name>]',
  ],
  unseen: ['<story> Count what belongs to <name> when all is done'],
  draw(random, { events, largest, factors }) {
    const start = between(random, 2, largest)
    const [name, ...others] = random.shuffle(people)
    const list: Event[] = []
    while (list.length < events)
      list.push(drawEvent(random, list.at(-1)?.after ?? start, largest, factors === 1, others[list.length]))
    return { name, things: random.pick(kinds), start, events: list }
  },
  pose({ name, things, start, events }) {
    const answer = events.at(-1)?.after ?? start
    const story = [
      `${name} has ${start} ${things}.`,
      ...events.map((event) => `${name} ${event.says}.`),
    ].join(' ')
    return {
      key: story,
      holes: { story, things, name },
      thought: events.map((event) => event.counts),
      answer: String(answer),
      score: (given) => scoreNumber(given, answer, [things]),
    }
  },
})

function drawEvent(random: Random, has: number, largest: number, factors: boolean, other: string): Event {
  const kind = random.int(factors ? 5 : 3)
  if (kind === 3 && has % 2 === 0 && has > 0)
    return { says: `gives half of them to ${other}`, counts: `${has} / 2 = ${has / 2}`, after: has / 2 }
  if (kind === 4 && has > 0 && has <= largest) {
    const times = between(random, 2, 3)
    return {
      says: times === 2 ? 'doubles the number' : 'triples the number',
      counts: `${has} * ${times} = ${has * times}`,
      after: has * times,
    }
  }
  if (kind > 0 && has > 1) {
    const by = between(random, 1, Math.min(has, largest))
    const says = kind === 1 ? `loses ${by}` : `gives ${by} to ${other}`
    return { says, counts: `${has} - ${by} = ${has - by}`, after: has - by }
  }
  const by = between(random, 1, largest)
  const says = random.pick([`buys ${by} more`, `gets ${by} from ${other}`, `finds ${by} more`])
  return { says, counts: `${has} + ${by} = ${has + by}`, after: has + by }
}
