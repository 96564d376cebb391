import type { Random } from '../../../../engine/random/index.ts'
import { defineKind } from '../kind.ts'
import { between, several, until } from '../shared/draws.ts'
import { scoreWord } from '../shared/scores.ts'
import { people, women } from '../shared/words.ts'

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

const words: Readonly<Record<string, readonly [string, string]>> = {
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

const wordFor = (relation: string, name: string): string => words[relation][women.includes(name) ? 0 : 1]

/** What one person is to another, over some steps. Everybody is of one blood: no marriages, no half-siblings. */
export const kinshipRelations = defineKind({
  name: 'family-relations',
  about: 'how two people are related, told by a chain of others',
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
    const told = [...all.slice(turn), ...all.slice(0, turn)]
    return {
      key: `${[...all].sort().join(' ')} ${a} ${b}`,
      holes: { facts: told.join(' '), a, b },
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
