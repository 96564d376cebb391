import { defineKind } from '../kind.ts'
import { between, numbers } from '../shared/draws.ts'
import { itemsOf, scoreSet } from '../shared/scores.ts'
import { please } from '../shared/words.ts'

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
