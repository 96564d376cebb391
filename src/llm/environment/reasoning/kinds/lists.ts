import { defineKind, itemsOf, scoreList, scoreNumber, scoreSet } from '../kind.ts'
import { between, numbers, please, several, things } from '../shared/draws.ts'

/** Numbers or words, up or down. */
export const sorting = defineKind({
  name: 'sorting',
  about: 'numbers or words in order',
  knobs: {
    items: { least: 3, most: 12, about: 'to sort' },
    largest: { least: 20, most: 999, about: 'number' },
    words: { least: 0, most: 1, about: '1 = half of the questions have words' },
  },
  levels: [
    { items: 3, largest: 99, words: 0 },
    { items: 5, largest: 99, words: 1 },
    { items: 8, largest: 999, words: 1 },
  ],
  templates: [
    `${please}[sort|order|arrange] [these:|this list:|the list] <items>, <direction>`,
    '[Sort|Order|Put in order] <direction>: <items>',
    '[Give me|Write|Show me] <items> [sorted|ordered|in order], <direction>',
  ],
  unseen: ['The list <items> is a mess, bring it into sequence <direction>'],
  draw(random, { items, largest, words }) {
    const worded = words === 1 && random.int(2) === 0
    const drawn = worded ? several(random, things, items) : numbers(random, items, 1, largest).map(String)
    return { items: drawn, worded, up: random.int(2) === 0 }
  },
  pose({ items, worded, up }) {
    const sorted = [...items].sort((a, b) => (worded ? (a < b ? -1 : 1) : Number(a) - Number(b)))
    const wanted = up ? sorted : sorted.reverse()
    const [first, last] = worded ? ['a', 'z'] : ['smallest', 'largest']
    return {
      // Another order of the same items is the same task.
      key: `${up ? 'up' : 'down'} ${[...items].sort().join(' ')}`,
      holes: { items: items.join(', '), direction: `from ${up ? first : last} to ${up ? last : first}` },
      thought: [],
      answer: wanted.join(', '),
      score: (given) => scoreList(itemsOf(given), wanted),
    }
  },
})

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

const operations = {
  union: {
    says: 'the union of <a> and <b>',
    does: (a: number[], b: number[]) => [...new Set([...a, ...b])],
  },
  intersection: {
    says: 'the intersection of <a> and <b>',
    does: (a: number[], b: number[]) => a.filter((x) => b.includes(x)),
  },
  difference: {
    says: 'the elements of <a> that are not in <b>',
    does: (a: number[], b: number[]) => a.filter((x) => !b.includes(x)),
  },
  either: {
    says: 'the elements that are in exactly one of <a> and <b>',
    does: (a: number[], b: number[]) => [
      ...a.filter((x) => !b.includes(x)),
      ...b.filter((x) => !a.includes(x)),
    ],
  },
} as const
type Operation = keyof typeof operations

const ascending = (set: readonly number[]): number[] => [...set].sort((a, b) => a - b)
const braces = (set: readonly number[]): string => `{${ascending(set).join(', ')}}`

/** Unions, intersections and differences of sets of numbers. */
export const setOperations = defineKind({
  name: 'set-operations',
  about: 'the result of one or two operations on sets',
  knobs: {
    members: { least: 2, most: 10, about: 'of a set' },
    largest: { least: 12, most: 99, about: 'number' },
    operations: { least: 1, most: 2, about: 'one on the other' },
  },
  levels: [
    { members: 3, largest: 12, operations: 1 },
    { members: 5, largest: 15, operations: 1 },
    { members: 5, largest: 15, operations: 2 },
  ],
  templates: [
    'Let A = <A>, B = <B><C>. [What is|Find|Give me|Write|List] <wanted>',
    '[Take|Look at] the sets A = <A>, B = <B><C>. [What is|What are|Name] <wanted>',
    `${please}[list|find] <wanted>, [where|with] A = <A>, B = <B><C>`,
  ],
  unseen: ['A holds <A>, B holds <B><C>. Which members has <wanted>'],
  draw(random, { members, largest, operations: count }) {
    const sets = Array.from({ length: count + 1 }, () =>
      numbers(random, between(random, Math.max(1, members - 1), members), 1, largest),
    )
    return {
      sets,
      names: sets.slice(1).map(() => random.pick(Object.keys(operations) as Operation[])),
    }
  },
  pose({ sets, names }) {
    const [first, second] = names.map((name) => operations[name])
    const between = ascending(first.does(sets[0], sets[1]))
    const result = second === undefined ? between : ascending(second.does(between, sets[2]))
    const inner = first.says.replace('<a>', 'A').replace('<b>', 'B')
    return {
      key: `${names.join(' ')} ${sets.map(braces).join(' ')}`,
      holes: {
        A: braces(sets[0]),
        B: braces(sets[1]),
        C: sets[2] === undefined ? '' : ` and C = ${braces(sets[2])}`,
        wanted:
          second === undefined
            ? inner
            : second.says.replace('<a>', 'D').replace('<b>', 'C') + `, where D is ${inner}`,
      },
      thought: second === undefined ? [] : [`D = ${braces(between)}`],
      answer: result.length === 0 ? 'empty' : braces(result),
      score(given) {
        const saysEmpty = /^(?:the )?(?:empty(?: set)?|none|∅|\{ ?\})$/i.test(given)
        if (saysEmpty || result.length === 0) return saysEmpty && result.length === 0 ? 1 : 0
        return scoreSet(itemsOf(given), result.map(String))
      },
    }
  },
})
