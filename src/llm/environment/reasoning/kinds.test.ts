import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { createRandom } from '../../../engine/random/index.ts'
import { coinChange, countdown, hanoi, knapsack } from './kinds/search.ts'
import { codeOutput } from './kinds/code-output.ts'
import { kinshipRelations } from './kinds/stories.ts'
import { implicationChain, syllogism } from './kinds/logic.ts'
import { knightsKnaves } from './kinds/puzzles.ts'
import { primeFactors, romanNumerals } from './kinds/numbers.ts'
import { shortestPath, sudoku } from './kinds/grids.ts'
import { findKind } from './environment.ts'
import { type Expression, parse } from './shared/expressions.ts'

/** Answers worked out again from the words of the question alone, by other means than the kind's. */
const again: Readonly<Record<string, (question: string) => string>> = {
  'arithmetic-chain': (question) => {
    const expression = /[\d(][\d+*() -]*/.exec(question)?.[0] ?? ''
    return String(runInNewContext(expression))
  },
  multiplication: (question) => {
    const [a, b] = numbersIn(question)
    return String(Array.from({ length: b }, () => a).reduce((sum, x) => sum + x, 0))
  },
  division: (question) => {
    let [a, quotient] = [numbersIn(question)[0], 0]
    for (const b = numbersIn(question)[1]; a >= b; a -= b) quotient++
    return `${quotient} remainder ${a}`
  },
  'gcd-lcm': (question) => {
    const [a, b] = numbersIn(question)
    const up = Array.from({ length: a * b }, (_, i) => i + 1)
    return String(
      question.includes('multiple')
        ? up.find((x) => x % a === 0 && x % b === 0)
        : up.filter((x) => a % x === 0 && b % x === 0).at(-1),
    )
  },
  'modular-power': (question) => {
    const [base, exponent, modulus] = numbersIn(question).map(BigInt)
    return String(base ** exponent % modulus)
  },
  'base-conversion': (question) => {
    const bases: Readonly<Record<string, number>> = { binary: 2, octal: 8, decimal: 10, hexadecimal: 16 }
    const digits = question.split(/\W+/).findLast((word) => /^[\da-f]+$/.test(word)) ?? ''
    const [from, to] = [...question.matchAll(/binary|octal|hexadecimal|decimal/g)].map(
      ([name]) => bases[name],
    )
    return Number.parseInt(digits, from).toString(to)
  },
  sorting: (question) => {
    const list =
      /[a-z\d]+(?:, [a-z\d]+){2,}/.exec(
        question.replaceAll(/, from| sorted| ordered| in order/g, '|'),
      )?.[0] ?? ''
    const items = list.split(', ')
    const numeric = /\d/.test(list)
    items.sort((a, b) => (numeric ? Number(a) - Number(b) : a.localeCompare(b)))
    return (/from (?:smallest|a) /.test(question) ? items : items.reverse()).join(', ')
  },
  weekday: (question) => {
    const names = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
    const start = names.findIndex((name) => question.includes(name))
    const days = numbersIn(question)[0] * (question.includes('ago') ? -1 : 1)
    // 2023-01-01 was a Sunday.
    return names[new Date(Date.UTC(2023, 0, 1 + start + days)).getUTCDay()]
  },
  'days-between': (question) => {
    const year = /\b(?:19|20|21)\d\d\b/.exec(question)?.[0]
    const [from, to] = [...question.matchAll(/\d+ [A-Z][a-z]+/g)].map(([date]) =>
      Date.parse(`${date} ${year} UTC`),
    )
    return String((to - from) / 86_400_000)
  },
  clock: (question) => {
    const [hour, minute] = (/\d\d:\d\d/.exec(question)?.[0] ?? '').split(':').map(Number)
    const hours = Number(/(\d+) hour/.exec(question)?.[1] ?? 0)
    const minutes = Number(/(\d+) minute/.exec(question)?.[1] ?? 0)
    const sign = question.includes('ago') ? -1 : 1
    return new Date(Date.UTC(2023, 5, 5, hour + sign * hours, minute + sign * minutes))
      .toISOString()
      .slice(11, 16)
  },
  'letter-count': (question) => {
    const letter = /\b(?:letters?|every) ([a-z]) /.exec(question)?.[1] ?? ''
    const text = question.slice(question.lastIndexOf(' in ') + 4)
    return String(text.split(letter).length - 1)
  },
  'linear-equation': (question) => {
    const sides = [...question.matchAll(/(?:(-?\d*)x ([+-]) )?(-?\d+)(?= =|$)/g)].slice(-2)
    const at = (x: number): number[] =>
      sides.map(([, factor, sign, constant]) =>
        sign === undefined
          ? Number(constant)
          : Number(factor === '' ? 1 : factor) * x + Number(`${sign}${constant}`),
      )
    return String(Array.from({ length: 401 }, (_, i) => i - 200).find((x) => at(x)[0] === at(x)[1]))
  },
  swaps: (question) => {
    const has = new Map([...question.matchAll(/(\w+) has the (\w+)/g)].map(([, who, what]) => [who, what]))
    for (const [, a, b] of question.matchAll(/(\w+) and (\w+) swap/g)) {
      const kept = has.get(a) as string
      has.set(a, has.get(b) as string)
      has.set(b, kept)
    }
    const asked = /(?:does|what) (\w+) (?:have|has) (?:now|in the end|at last)$/.exec(question)?.[1] as string
    return has.get(asked) as string
  },
}
const numbersIn = (text: string): number[] => (text.match(/\d+/g) ?? []).map(Number)

test.each(Object.keys(again))('%s: the oracle agrees with another way of working it out', (name) => {
  const kind = findKind(name)
  for (let seed = 0; seed < 40; seed++) {
    const problem = kind.generate(createRandom(seed, 'again'), 1 + (seed % 3))
    expect(
      problem.verify(again[name](problem.question)),
      `${problem.question} | ${problem.solve().answer}`,
    ).toBe(1)
  }
})

test('roman numerals: every number reads back from what is written for it', () => {
  const values: Readonly<Record<string, number>> = { I: 1, V: 5, X: 10, L: 50, C: 100, D: 500, M: 1000 }
  for (let number = 1; number < 4000; number++) {
    const { answer, score } = romanNumerals.pose({ number, roman: true })
    const read = Array.from(answer).reduce((sum, letter, i) => {
      const next = values[answer[i + 1]] ?? 0
      return sum + (values[letter] < next ? -values[letter] : values[letter])
    }, 0)
    expect(read).toBe(number)
    expect(/(?:I{4}|X{4}|C{4}|VV|LL|DD)/.test(answer)).toBe(false)
    expect(score(String(number))).toBe(0)
  }
})

test('countdown: the target with the wrong numbers gets partial credit, the target alone gets none', () => {
  const { score } = countdown.pose({ given: [3, 8, 5], solution: parse('3 * 8 + 5') as Expression })
  expect(score('8 * 3 + 5')).toBe(1)
  expect(score('5+8×3 = 29')).toBe(1)
  expect(score('(3 * 8) + 5 = 30')).toBe(0)
  expect(score('29')).toBe(0)
  expect(score('28 + 1')).toBe(0)
  // Two of three numbers, the third one twice; then three of three and one too many.
  expect(score('3 * 8 + 4 + 1')).toBeCloseTo(0.4 * (2 / 4))
  expect(score('3 * 8 + 5 * 1')).toBeCloseTo(0.4 * (3 / 4))
  expect(score('3 + 8 + 5')).toBe(0.1)
  expect(score('3 / 0 + 8')).toBe(0)
})

test('prime factors: a product of factors gets partial credit, the number itself gets none', () => {
  const { score } = primeFactors.pose({ number: 84 })
  expect(score('2 * 2 * 3 * 7')).toBe(1)
  expect(score('7, 3, 2 and 2')).toBe(1)
  expect(score('84 = 2 × 2 × 3 × 7')).toBe(1)
  expect(score('4 * 21')).toBe(0.3)
  expect(score('84')).toBe(0)
  expect(score('1 * 84')).toBe(0)
  expect(score('2 * 3 * 7')).toBe(0)
})

test('shortest path: every shortest path scores 1, a detour less, a path through a wall 0', () => {
  const { score, answer } = shortestPath.pose({ rows: ['S..', '.#.', '..G'] })
  expect(answer).toHaveLength(4)
  expect(score('RRDD')).toBe(1)
  expect(score('d, d, r, r')).toBe(1)
  expect(score('RLRRDD')).toBeCloseTo(0.5 * (4 / 6))
  expect(score('RR')).toBeCloseTo(0.5 * 0.5 * 0.5)
  expect(score('RD')).toBe(0)
  expect(score('UUU')).toBe(0)
})

test('hanoi: three disks from peg to peg take seven moves', () => {
  const { score, answer } = hanoi.pose({ start: [0, 0, 0], goal: [2, 2, 2] })
  expect(answer).toBe('A C, A B, C B, A C, B A, B C, A C')
  expect(score('AC AB CB AC BA BC AC')).toBe(1)
  expect(score('A to C, A to B, C to B, A to C, B to A, B to C, A to C')).toBe(1)
  expect(score('A B, B C, A B, C B, A C, B A, B C, A C')).toBeCloseTo(0.5 * (7 / 8))
  expect(score('A C, A C')).toBe(0)
  expect(score('A C')).toBeCloseTo(0.25 / 7)
})

test('knapsack and coins: the best choice scores 1, a worse one less, an impossible one 0', () => {
  const items = [
    { name: 'lamp', weight: 3, value: 4 },
    { name: 'oak', weight: 4, value: 5 },
    { name: 'kite', weight: 5, value: 7 },
  ]
  const bag = knapsack.pose({ items, capacity: 7 })
  expect(bag.answer).toBe('lamp, oak')
  expect(bag.score('the oak and the lamp')).toBe(1)
  expect(bag.score('kite')).toBeCloseTo(0.5 * (7 / 9))
  expect(bag.score('kite, lamp')).toBe(0)
  expect(bag.score('lamp, lamp')).toBe(0)

  const coins = coinChange.pose({ coins: [1, 9, 11], amount: 18 })
  expect(coins.answer).toBe('9, 9')
  expect(coins.score('9 + 9')).toBe(1)
  expect(coins.score('11 1 1 1 1 1 1 1')).toBeCloseTo(0.5 * (2 / 8))
  expect(coins.score('18')).toBe(0)
  expect(coins.score('9')).toBe(0)
})

test('the classical syllogisms are judged correctly', () => {
  const names = ['cats', 'pets', 'birds']
  const all = (subject: number, predicate: number) => ({ form: 'all' as const, subject, predicate })
  const no = (subject: number, predicate: number) => ({ form: 'no' as const, subject, predicate })
  const some = (subject: number, predicate: number) => ({ form: 'some' as const, subject, predicate })
  const someNot = (subject: number, predicate: number) => ({ form: 'some not' as const, subject, predicate })
  const answer = (
    premises: Parameters<typeof syllogism.pose>[0]['premises'],
    conclusion: (typeof premises)[number],
  ): string => syllogism.pose({ names, premises, conclusion }).answer
  expect(answer([all(0, 1), all(1, 2)], all(0, 2))).toBe('yes') // Barbara
  expect(answer([all(0, 1), no(1, 2)], no(0, 2))).toBe('yes') // Celarent
  expect(answer([some(0, 1), all(1, 2)], some(0, 2))).toBe('yes') // Darii
  expect(answer([some(0, 1), no(1, 2)], someNot(0, 2))).toBe('yes') // Ferio
  expect(answer([all(0, 1), someNot(2, 1)], someNot(2, 0))).toBe('yes') // Baroco
  expect(answer([all(0, 1), all(2, 1)], all(0, 2))).toBe('no') // undistributed middle
  expect(answer([some(0, 1), some(1, 2)], some(0, 2))).toBe('no')
  expect(answer([all(0, 1), all(1, 2)], all(2, 0))).toBe('no') // conversion
})

test('knights and knaves: guessing scores 0 on average', () => {
  const puzzle = knightsKnaves.pose({
    names: ['Ann', 'Ben'],
    claims: [
      { kind: 'different', who: 0, other: 1 },
      { kind: 'is', who: 0, knight: false },
    ],
  })
  // Were Ann a knave, Ben would be one too, and would have told the truth about her.
  const { answer, score } = puzzle
  expect(answer).toBe('Ann is a knight, Ben is a knave')
  expect(score(answer)).toBe(1)
  expect(score(answer.replace('Ann is a', 'ann:').replace(',', ' and'))).toBe(1)
  expect(score('Ann is a knight')).toBe(0)
  expect(score(`${answer}, Ann is a knight`)).toBe(0)
})

test('proofs: any valid chain of rules scores 1, a valid beginning gets partial credit', () => {
  const rules = [
    ['A', 'B'],
    ['B', 'C'],
    ['C', 'D'],
    ['A', 'X'],
    ['X', 'D'],
  ] as const
  const { score, answer } = implicationChain.pose({ rules: [...rules], fact: 'A', goal: 'D' })
  expect(answer).toBe('A X D')
  expect(score('A -> B -> C -> D')).toBe(1)
  expect(score('A X D')).toBe(1)
  expect(score('A X')).toBeCloseTo(0.25)
  expect(score('A D')).toBe(0)
  expect(score('no')).toBe(0)
  const none = implicationChain.pose({ rules: [['B', 'A']], fact: 'A', goal: 'B' })
  expect(none.answer).toBe('no')
  expect(none.score('A B')).toBe(0)
})

test('family relations agree with examples worked out by hand', () => {
  const relation = (chain: ('parent' | 'child' | 'sibling')[], names: string[]): string =>
    kinshipRelations.pose({ chain, names, extra: [], order: 0 }).answer
  expect(relation(['parent', 'parent'], ['Ann', 'Ben', 'Eva'])).toBe('grandmother')
  expect(relation(['sibling', 'parent'], ['Tom', 'Ben', 'Eva'])).toBe('uncle')
  expect(relation(['child', 'sibling'], ['Tom', 'Ben', 'Eva'])).toBe('nephew')
  expect(relation(['child', 'sibling', 'parent'], ['Ann', 'Ben', 'Eva', 'Jim'])).toBe('cousin')
  expect(relation(['child', 'child', 'child'], ['Tom', 'Ben', 'Eva', 'Jim'])).toBe('great-grandson')
})

test('sudoku: given cells must not change, and correctly filled cells get partial credit', () => {
  const grid = [1, 2, 3, 4, 3, 4, 1, 2, 2, 1, 4, 3, 4, 3, 0, 0]
  const { answer, score } = sudoku.pose({ grid })
  expect(answer).toBe('1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 2 1')
  expect(score('1234 3412 2143 4321')).toBe(1)
  expect(score('1234/3412/2143/4311')).toBeCloseTo(0.25)
  expect(score('2234 3412 2143 4321')).toBe(0)
})

test('programs of the tiny language print what was worked out by hand', () => {
  const { answer, holes } = codeOutput.pose({
    program: [
      { kind: 'set', to: 'x', value: 3 },
      { kind: 'set', to: 'y', value: 2 },
      { kind: 'repeat', times: 2, body: { to: 'x', left: 'x', operator: '*', right: 2 } },
      { kind: 'if', left: 'x', above: 9, body: { to: 'y', left: 'y', operator: '-', right: 'x' } },
    ],
    print: 'y',
  })
  expect(holes['program']).toBe('x = 3\ny = 2\nrepeat 2: x = x * 2\nif x > 9: y = y - x\nprint y')
  expect(answer).toBe('-10')
})
