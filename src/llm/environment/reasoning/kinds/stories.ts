import type { Random } from '../../../../engine/random/index.ts'
import { defineKind, itemsOf, scoreList, scoreNumber, scoreWord } from '../kind.ts'
import { between, kinds, listed, people, several, things, until, women } from '../shared/draws.ts'

const pairs = [
  ['taller', 'shorter', 'tallest'],
  ['older', 'younger', 'oldest'],
  ['faster', 'slower', 'fastest'],
] as const

/** Everybody in order, from comparisons of neighbours in whatever sequence. */
export const ordering = defineKind({
  name: 'ordering',
  about: 'people in order of size, age or speed, from comparisons',
  knobs: {
    people: { least: 3, most: 8, about: 'to be put in order' },
    extra: { least: 0, most: 3, about: 'comparisons that are not needed' },
  },
  levels: [
    { people: 3, extra: 0 },
    { people: 4, extra: 0 },
    { people: 6, extra: 2 },
  ],
  templates: [
    '<facts> [Name|List|Give|Write] [all|everybody|them], the <most> first',
    '<facts> [What is the order|In which order are they|Who comes after whom], [from the <most> on|beginning with the <most>]',
  ],
  unseen: ['<facts> They line up with the <most> in front. Read out the line'],
  draw(random, { people: count, extra }) {
    const order = several(random, people, count)
    const places = order.slice(1).map((_, i) => [i, i + 1] as const)
    const far = Array.from({ length: extra }, () => drawPair(random, count))
    const facts = random
      .shuffle([...places, ...far])
      .map(([high, low]) => ({ high, low, turned: random.int(2) === 0 }))
    return { order, facts, scale: random.int(pairs.length) }
  },
  pose({ order, facts, scale }) {
    const [more, less, most] = pairs[scale]
    const lines = facts.map(({ high, low, turned }) =>
      turned
        ? `${order[low]} is ${less} than ${order[high]}.`
        : `${order[high]} is ${more} than ${order[low]}.`,
    )
    return {
      key: [...lines].sort().join(' '),
      holes: { facts: lines.join(' '), most },
      thought: order.slice(1).map((name, i) => `${order[i]} > ${name}`),
      answer: order.join(', '),
      score: (given) => scoreList(itemsOf(given.replaceAll(/[->→]+/g, ' ')), order),
    }
  },
})

function drawPair(random: Random, count: number): readonly [number, number] {
  const [high, low] = random
    .shuffle(Array.from({ length: count }, (_, i) => i))
    .slice(0, 2)
    .sort((a, b) => a - b)
  return [high, low]
}

type Step = 'parent' | 'child' | 'sibling'

/** What a relation becomes by one more step: A is its key's relation of X, X is the step's relation of B. */
const composed: Readonly<Record<string, Partial<Record<Step, string>>>> = {
  parent: { parent: 'grandparent', sibling: 'parent' },
  grandparent: { parent: 'great-grandparent', sibling: 'grandparent' },
  'great-grandparent': { sibling: 'great-grandparent' },
  child: { parent: 'sibling', child: 'grandchild', sibling: 'nibling' },
  grandchild: { child: 'great-grandchild' },
  sibling: { parent: 'uncle', child: 'child', sibling: 'sibling' },
  uncle: { parent: 'great-uncle', sibling: 'uncle' },
  nibling: { parent: 'cousin', child: 'grandchild' },
  cousin: { sibling: 'cousin' },
}

const kinshipWords: Readonly<Record<string, readonly [string, string]>> = {
  parent: ['mother', 'father'],
  grandparent: ['grandmother', 'grandfather'],
  'great-grandparent': ['great-grandmother', 'great-grandfather'],
  child: ['daughter', 'son'],
  grandchild: ['granddaughter', 'grandson'],
  'great-grandchild': ['great-granddaughter', 'great-grandson'],
  sibling: ['sister', 'brother'],
  uncle: ['aunt', 'uncle'],
  'great-uncle': ['great-aunt', 'great-uncle'],
  nibling: ['niece', 'nephew'],
  cousin: ['cousin', 'cousin'],
}

const wordFor = (relation: string, name: string): string =>
  kinshipWords[relation][women.includes(name) ? 0 : 1]

/** What one person is to another, over some steps. Everybody is of one blood: no marriages, no half-siblings. */
export const kinshipRelations = defineKind({
  name: 'family-relations',
  about: 'how two people are related, given by a chain of others',
  knobs: {
    steps: { least: 2, most: 4, about: 'from one to the other' },
    others: { least: 0, most: 3, about: 'facts that do not matter' },
  },
  levels: [
    { steps: 2, others: 0 },
    { steps: 3, others: 0 },
    { steps: 4, others: 2 },
  ],
  templates: [
    '<facts> [What is|How is] <a> [to|related to] <b>',
    '<facts> [Say|Tell me|Find out|Work out] [what <a> is to <b>|how <a> is related to <b>]',
    `[Here is a family.|Look at this family.] <facts> [What is|Who is] <a> to <b>`,
  ],
  unseen: ['At the party one hears: <facts> By which word would <b> introduce <a>'],
  draw(random, { steps, others }) {
    const chain = until(() => drawChain(random, steps))
    const names = several(random, people, steps + 1 + others)
    return {
      chain,
      names,
      extra: Array.from({ length: others }, () => drawStep(random)),
      order: random.next(),
    }
  },
  pose({ chain, names, extra, order }) {
    const facts = chain.map((step, i) => `${names[i]} is the ${wordFor(step, names[i])} of ${names[i + 1]}.`)
    const [a, b] = [names[0], names[chain.length]]
    // A person who hangs on nobody of the chain but its last.
    const unneeded = extra.map((step, i) => {
      const name = names[chain.length + 1 + i]
      return `${name} is the ${wordFor(step, name)} of ${b}.`
    })
    const relations = chain
      .slice(1)
      .reduce<string[]>((all, step) => [...all, next(all.at(-1) as string, step) as string], [chain[0]])
    const answer = wordFor(relations.at(-1) as string, a)
    const all = [...facts, ...unneeded]
    const turn = Math.floor(order * all.length)
    const stated = [...all.slice(turn), ...all.slice(0, turn)]
    return {
      key: `${[...all].sort().join(' ')} ${a} ${b}`,
      holes: { facts: stated.join(' '), a, b },
      thought: relations.map((relation, i) => `${a} ${wordFor(relation, a)} of ${names[i + 1]}`),
      answer,
      score: (given) =>
        scoreWord(
          given.toLowerCase().replace(new RegExp(`^${a} is the |^(?:her|his) | of ${b}$`, 'gi'), ''),
          answer,
        ),
    }
  },
})

const next = (relation: string, step: Step): string | undefined => composed[relation]?.[step]

const drawStep = (random: Random): Step => random.pick(['parent', 'child', 'sibling'])

/** Steps whose relation has a name all the way. */
function drawChain(random: Random, length: number): Step[] | undefined {
  const chain: Step[] = [drawStep(random)]
  let relation: string | undefined = chain[0]
  while (chain.length < length && relation !== undefined) {
    const step: Step = (['parent', 'child', 'sibling'] as const)[between(random, 0, 2)]
    relation = next(relation, step)
    chain.push(step)
  }
  return relation === undefined ? undefined : chain
}

/** Who holds what after exchanges. */
export const swaps = defineKind({
  name: 'swaps',
  about: 'who holds what after people exchanged their things',
  knobs: {
    people: { least: 2, most: 6, about: 'with one thing each' },
    swaps: { least: 1, most: 8, about: 'one after another' },
  },
  levels: [
    { people: 3, swaps: 1 },
    { people: 3, swaps: 3 },
    { people: 5, swaps: 5 },
  ],
  templates: [
    '<start>. <swaps> [What does|What thing does] <name> have [now|in the end|at last]',
    '[At first|At the start] <start>. <swaps> [What does <name> have|Tell me what <name> has] [now|in the end|at last]',
  ],
  unseen: ['<start>. <swaps> Which thing would one find with <name>'],
  draw(random, { people: count, swaps: length }) {
    const names = several(random, people, count)
    return {
      names,
      held: several(random, things, count),
      swaps: Array.from({ length }, () => several(random, names, 2)),
      asked: random.pick(names),
    }
  },
  pose({ names, held, swaps: list, asked }) {
    const has = new Map<string, string>(names.map((name, i) => [name, held[i]]))
    const start = listed(names.map((name, i) => `${name} has the ${held[i]}`))
    const stated = list.map(([a, b]) => `${a} and ${b} swap.`).join(' ')
    const lines = list.map(([a, b]) => {
      const [left, right] = [has.get(a) as string, has.get(b) as string]
      has.set(a, right)
      has.set(b, left)
      return `${a} ${right}, ${b} ${left}`
    })
    const answer = has.get(asked) as string
    return {
      key: `${names
        .map((name, i) => `${name} ${held[i]}`)
        .sort()
        .join(', ')}: ${stated} ${asked}`,
      holes: { start, swaps: stated, name: asked },
      thought: lines,
      answer,
      score: (given) => scoreWord(given, answer),
    }
  },
})

/** One event: what is stated and how it is counted. */
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
