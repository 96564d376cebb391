import { defineKind } from '../kind.ts'
import { between, numbers } from '../shared/draws.ts'
import { scoreNumber } from '../shared/scores.ts'

interface Test {
  says: string
  holds: (number: number) => boolean
}

/** The test that a name such as `above 12` stands for. */
function testOf(name: string): Test {
  const [kind, bound] = name.split(' ')
  const n = Number(bound)
  if (kind === 'even') return { says: 'even', holds: (x) => x % 2 === 0 }
  if (kind === 'odd') return { says: 'odd', holds: (x) => x % 2 === 1 }
  if (kind === 'above') return { says: `larger than ${n}`, holds: (x) => x > n }
  if (kind === 'below') return { says: `smaller than ${n}`, holds: (x) => x < n }
  return { says: `divisible by ${n}`, holds: (x) => x % n === 0 }
}

/** How many of some numbers pass a test or two. */
export const countMatching = defineKind({
  name: 'count-matching',
  about: 'how many numbers of a list pass a test',
  knobs: {
    items: { least: 3, most: 14, about: 'in the list' },
    largest: { least: 20, most: 999, about: 'number' },
    tests: { least: 1, most: 2, about: 'that have to hold together' },
  },
  levels: [
    { items: 4, largest: 50, tests: 1 },
    { items: 7, largest: 99, tests: 1 },
    { items: 10, largest: 99, tests: 2 },
  ],
  templates: [
    'How many of [|the numbers |these numbers: ]<items> are <test>',
    '[Count|Tell me|Give me|Find] [|the number of ]those among <items> that are <test>',
    '[Look at|Take] <items>. [How many are|How many of them are] <test>',
  ],
  unseen: ['<items>: in this row, what is the amount of entries that are <test>'],
  draw(random, { items, largest, tests }) {
    const bound = between(random, Math.ceil(largest / 5), Math.floor((4 * largest) / 5))
    const sizes = random.shuffle([`above ${bound}`, `below ${bound}`])
    const divisors = random.shuffle(['even', 'odd', `divisible ${between(random, 3, 9)}`])
    const drawn = tests === 2 ? [divisors[0], sizes[0]] : [random.pick([divisors[0], sizes[0]])]
    return { items: numbers(random, items, 1, largest), tests: drawn }
  },
  pose({ items, tests }) {
    const all = tests.map(testOf)
    const passing = items.filter((item) => all.every((test) => test.holds(item)))
    return {
      key: `${tests.join(' ')}: ${[...items].sort((a, b) => a - b).join(' ')}`,
      holes: { items: items.join(', '), test: all.map((test) => test.says).join(' and ') },
      thought: [passing.length === 0 ? 'none' : passing.join(', ')],
      answer: String(passing.length),
      score: (given) => scoreNumber(given, passing.length),
    }
  },
})
