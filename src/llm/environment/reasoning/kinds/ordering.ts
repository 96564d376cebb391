import type { Random } from '../../../../engine/random/index.ts'
import { defineKind } from '../kind.ts'
import { several } from '../shared/draws.ts'
import { itemsOf, scoreList } from '../shared/scores.ts'
import { people } from '../shared/words.ts'

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
