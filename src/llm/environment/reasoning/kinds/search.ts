import type { Random } from '../../../../engine/random/index.ts'
import { defineKind, itemsOf, numberOf, partly } from '../kind.ts'
import {
  between,
  listed,
  numbers,
  numbers as differentNumbers,
  please,
  several,
  things,
  until,
} from '../shared/draws.ts'
import { apply, evaluate, operands, parse, print, reduce } from '../shared/expressions.ts'
import type { Expression } from '../shared/expressions.ts'

/** Reach a number with each of the given ones used once; many answers are right. */
export const countdown = defineKind({
  name: 'countdown',
  about: 'an expression that makes a target of given numbers, each used exactly once',
  knobs: {
    numbers: { least: 2, most: 6, about: 'given' },
    largest: { least: 9, most: 100, about: 'number given' },
    target: { least: 20, most: 999, about: 'largest target' },
  },
  levels: [
    { numbers: 2, largest: 20, target: 60 },
    { numbers: 3, largest: 20, target: 100 },
    { numbers: 4, largest: 25, target: 200 },
  ],
  templates: [
    `${please}[make|reach|get] <target> [from|with|out of] the numbers <numbers>, [using each|each used] exactly once`,
    '[Use|Take|Combine] <numbers>, each exactly once, to [make|reach|get] <target>',
    '[Find|Give me|Write] an expression that [makes|equals|gives] <target> and has each of <numbers> exactly once',
  ],
  unseen: ['Which calculation with <numbers> comes to <target>, if no number may be left over or repeated'],
  draw(random, { numbers, largest, target }) {
    return until(() => {
      const given = differentNumbers(random, numbers, 1, largest)
      const solution = combine(random, given)
      const value = evaluate(solution)
      return value <= target && !given.includes(value) ? { given, solution } : undefined
    })
  },
  pose({ given, solution }) {
    const target = evaluate(solution)
    const sorted = [...given].sort((a, b) => a - b)
    return {
      key: `${sorted.join(' ')} -> ${target}`,
      holes: { numbers: listed(given.map(String)), target: String(target) },
      thought: steps(solution),
      answer: print(solution),
      score: (answer) => scoreExpression(answer, sorted, target),
    }
  },
})

/**
 * 1 for the target by each number once. Otherwise: the right value with wrong numbers is worth up to 0.4, by the share of
 * the given numbers among those used, so that writing the target down is worth nothing; the right numbers with a wrong value
 * are worth 0.1.
 */
function scoreExpression(answer: string, given: readonly number[], target: number): number {
  const [text, ...results] = answer.split('=')
  const expression = parse(text.trim())
  if (expression === undefined || 'value' in expression) return 0
  const value = evaluate(expression)
  if (results.length > 1 || (results.length === 1 && Number(results[0]) !== value)) return 0
  const used = operands(expression)
  const left = [...given]
  let legal = 0
  for (const number of used) {
    const at = left.indexOf(number)
    if (at < 0) continue
    left.splice(at, 1)
    legal++
  }
  const share = legal / Math.max(used.length, given.length)
  if (Math.abs(value - target) > 1e-9) return share === 1 ? 0.1 : 0
  return share === 1 ? 1 : partly(0.8 * share)
}

/** Numbers put together in pairs such that every result is a positive whole number. */
function combine(random: Random, given: readonly number[]): Expression {
  const parts: Expression[] = given.map((value) => ({ value }))
  while (parts.length > 1) {
    const [one, other] = random.shuffle(parts)
    const [small, large] = [one, other].sort((a, b) => evaluate(a) - evaluate(b))
    const possible = (['+', '+', '-', '-', '*', '/'] as const).filter((operator) => {
      const value = apply(operator, evaluate(large), evaluate(small))
      return value > 0 && Number.isInteger(value)
    })
    parts.splice(parts.indexOf(one), 1)
    parts.splice(parts.indexOf(other), 1)
    parts.push({ operator: random.pick(possible), left: large, right: small })
  }
  return parts[0]
}

function steps(expression: Expression): string[] {
  const lines: string[] = []
  for (let left = expression, next = reduce(left); next !== undefined; left = next, next = reduce(left))
    lines.push(doneBetween(left, next))
  return lines
}

/** The one operation that `next` has done, as "3 * 4 = 12". */
function doneBetween(before: Expression, next: Expression): string {
  if ('value' in before) return ''
  if ('value' in next) return `${print(before)} = ${next.value}`
  return print(before.left) === print(next.left)
    ? doneBetween(before.right, next.right)
    : doneBetween(before.left, next.left)
}

const pegs = ['A', 'B', 'C'] as const
/** The peg of every disk, the smallest disk first. */
type State = readonly number[]
type Move = readonly [from: number, to: number]

const rule =
  '. One disk moves at a time, from the top of a peg, never onto a smaller one. [Answer with|Write] pairs of pegs such as A C, B C'

/** The tower of Hanoi from any position to any other, in as few moves as possible. */
export const hanoi = defineKind({
  name: 'hanoi',
  about: 'the fewest moves between two positions of the tower of Hanoi',
  knobs: {
    disks: { least: 3, most: 5, about: 'on three pegs' },
    moves: { least: 2, most: 31, about: 'that are needed at most' },
  },
  levels: [
    { disks: 3, moves: 3 },
    { disks: 3, moves: 7 },
    { disks: 4, moves: 12 },
  ],
  templates: [
    `[Tower of Hanoi|The tower of Hanoi|Towers of Hanoi] with disks 1 (smallest) to <disks>: <start>. [Reach|Get to|Make] <goal> [in|with] the fewest moves${rule}`,
    `[Move|Bring] the disks 1 (smallest) to <disks> from <start> to <goal> [in|with] the fewest moves${rule}`,
  ],
  unseen: [
    'In the puzzle of Hanoi, disk 1 is the smallest of <disks>. Now: <start>. Wanted: <goal>. Which shortest row of moves, as pairs of pegs, does it',
  ],
  draw(random, { disks, moves }) {
    return until(() => {
      const drawn = (): number[] => Array.from({ length: disks }, () => random.int(3))
      const [start, goal] = [drawn(), drawn()]
      const length = shortest(start, goal).length
      return length > 0 && length <= moves ? { start, goal } : undefined
    })
  },
  pose({ start, goal }: { start: State; goal: State }) {
    const path = shortest(start, goal)
    return {
      key: `${start.join('')} ${goal.join('')}`,
      holes: { disks: String(start.length), start: say(start), goal: say(goal) },
      thought: [],
      answer: path.map(([from, to]) => `${pegs[from]} ${pegs[to]}`).join(', '),
      score: (given) => scoreMoves(given, start, goal, path.length),
    }
  },
})

function say(state: State): string {
  return pegs
    .map((peg, i) => {
      const disks = state.flatMap((at, disk) => (at === i ? [disk + 1] : []))
      return `${peg} has ${disks.length === 0 ? 'none' : disks.join(' ')}`
    })
    .join(', ')
}

/** The state after a move; undefined where the rules forbid it. */
function after(state: State, [from, to]: Move): State | undefined {
  const top = state.indexOf(from)
  const other = state.indexOf(to)
  if (from === to || top < 0 || (other >= 0 && other < top)) return undefined
  return state.map((peg, disk) => (disk === top ? to : peg))
}

const allMoves: readonly Move[] = [0, 1, 2].flatMap((from) =>
  [0, 1, 2].filter((to) => to !== from).map((to): Move => [from, to]),
)

/** A shortest row of moves, by search through all states; none where start and goal are the same. */
function shortest(start: State, goal: State): Move[] {
  const wanted = goal.join('')
  const paths: { state: State; path: Move[] }[] = [{ state: start, path: [] }]
  const seen = new Set([start.join('')])
  for (const { state, path } of paths) {
    if (state.join('') === wanted) return path
    for (const move of allMoves) {
      const next = after(state, move)
      if (next === undefined || seen.has(next.join(''))) continue
      seen.add(next.join(''))
      paths.push({ state: next, path: [...path, move] })
    }
  }
  return []
}

/** More moves than needed are worth a half at most; legal moves that stop short are worth less, by how far they got. */
function scoreMoves(given: string, start: State, goal: State, length: number): number {
  const said = given.toUpperCase().replaceAll(/\bTO\b|[\s,;>()-]/g, '')
  if (said === '' || said.length > 400 || !/^(?:[ABC][ABC])+$/.test(said)) return 0
  const moves = (said.match(/../g) ?? []).map((pair): Move => [
    pegs.indexOf(pair[0] as 'A'),
    pegs.indexOf(pair[1] as 'A'),
  ])
  let state: State = start
  for (const move of moves) {
    const next = after(state, move)
    if (next === undefined) return 0
    state = next
  }
  const left = shortest(state, goal).length
  if (left > 0) return partly(0.5 * (1 - left / length))
  return moves.length === length ? 1 : partly(length / moves.length)
}

interface Item {
  name: string
  weight: number
  value: number
}

/** Which things to pack; another choice that fits is worth a part of a half, by its value. */
export const knapsack = defineKind({
  name: 'knapsack',
  about: 'the most valuable things that fit into a bag',
  knobs: {
    items: { least: 2, most: 8, about: 'to choose from' },
    largest: { least: 6, most: 50, about: 'weight and value' },
  },
  levels: [
    { items: 3, largest: 9 },
    { items: 4, largest: 12 },
    { items: 6, largest: 20 },
  ],
  templates: [
    'A bag [holds|can carry] <capacity> kg. <items>. [Which things make|Which choice makes] it most valuable',
    `${please}[choose|pick] the most valuable things that fit into <capacity> kg: <items>`,
    '[Which of these|What] should [one|I] pack into a bag for <capacity> kg, to carry the most value: <items>',
  ],
  unseen: ['The limit is <capacity> kg. On offer: <items>. Name the best load'],
  draw(random, { items: count, largest }) {
    const items = several(random, things, count).map((name) => ({
      name,
      weight: between(random, 1, largest),
      value: between(random, 1, largest),
    }))
    const all = items.reduce((sum, { weight }) => sum + weight, 0)
    const lightest = Math.min(...items.map(({ weight }) => weight))
    return {
      items,
      capacity: Math.max(lightest, between(random, Math.ceil(all / 4), Math.ceil((3 * all) / 4))),
    }
  },
  pose({ items, capacity }: { items: readonly Item[]; capacity: number }) {
    const chosen = best(items, capacity)
    const weight = (list: readonly Item[]): number => list.reduce((sum, item) => sum + item.weight, 0)
    const value = (list: readonly Item[]): number => list.reduce((sum, item) => sum + item.value, 0)
    const said = items.map((item) => `${item.name} weighs ${item.weight} kg and is worth ${item.value}`)
    return {
      key: `${capacity}: ${[...said].sort().join(', ')}`,
      holes: { capacity: String(capacity), items: said.join(', ') },
      thought: [
        `weight ${chosen.map((item) => item.weight).join(' + ')} = ${weight(chosen)}`,
        `worth ${chosen.map((item) => item.value).join(' + ')} = ${value(chosen)}`,
      ],
      answer: chosen.map(({ name }) => name).join(', '),
      score(given) {
        const names = itemsOf(given).filter((word) => word !== 'the')
        const list = items.filter(({ name }) => names.includes(name))
        if (list.length === 0 || list.length !== names.length || weight(list) > capacity) return 0
        return value(list) === value(chosen) ? 1 : partly(value(list) / value(chosen))
      },
    }
  },
})

/** By trying every choice; of equally good ones the first. */
function best(items: readonly Item[], capacity: number): Item[] {
  let found: Item[] = []
  let most = 0
  for (let choice = 1; choice < 2 ** items.length; choice++) {
    const list = items.filter((_, i) => ((choice >> i) & 1) === 1)
    const value = list.reduce((sum, item) => sum + item.value, 0)
    if (value <= most || list.reduce((sum, item) => sum + item.weight, 0) > capacity) continue
    found = list
    most = value
  }
  return found
}

/** As few coins as possible, where taking the largest first may be wrong; the amount in more coins is worth a part. */
export const coinChange = defineKind({
  name: 'coin-change',
  about: 'the fewest coins that make an amount',
  knobs: {
    coins: { least: 2, most: 5, about: 'kinds' },
    largest: { least: 8, most: 50, about: 'coin' },
    amount: { least: 20, most: 200, about: 'largest' },
  },
  levels: [
    { coins: 2, largest: 10, amount: 25 },
    { coins: 3, largest: 12, amount: 40 },
    { coins: 4, largest: 25, amount: 80 },
  ],
  templates: [
    '[Pay|Make|Give] <amount> with as few coins as possible, [from|using|out of] coins of <coins>. List the coins',
    `${please}list the fewest coins of <coins> that [make|add up to|give] <amount>`,
    'There are coins of <coins>. [Which fewest coins|Which smallest number of coins] [make|add up to|give] <amount>? List them',
  ],
  unseen: ['How does one settle <amount> with the least pieces of <coins>? Write every piece'],
  draw: (random, { coins, largest, amount }) => ({
    coins: [1, ...numbers(random, coins - 1, 2, largest)].sort((a, b) => a - b),
    amount: between(random, 5, amount),
  }),
  pose({ coins, amount }: { coins: readonly number[]; amount: number }) {
    const wanted = fewest(coins, amount)
    let left = amount
    const rests = wanted.map((coin) => {
      left -= coin
      return String(left)
    })
    return {
      key: `${amount}: ${coins.join(' ')}`,
      holes: { coins: listed(coins.map(String)), amount: String(amount) },
      thought: [`left ${rests.join(', ')}`],
      answer: wanted.join(', '),
      score(given) {
        const said = itemsOf(given.replaceAll('+', ' ')).map((item) => numberOf(item))
        if (said.length === 0 || said.length > 200 || said.some((coin) => !coins.includes(coin))) return 0
        if (said.reduce((sum, coin) => sum + coin, 0) !== amount) return 0
        return said.length === wanted.length ? 1 : partly(wanted.length / said.length)
      },
    }
  },
})

/** By dynamic programming over amounts; the largest coin that is right comes first. */
function fewest(coins: readonly number[], amount: number): number[] {
  const count = [0]
  for (let sum = 1; sum <= amount; sum++)
    count.push(1 + Math.min(...coins.filter((coin) => coin <= sum).map((coin) => count[sum - coin])))
  const list: number[] = []
  for (let sum = amount; sum > 0; sum -= list.at(-1) as number)
    list.push(
      [...coins].reverse().find((coin) => coin <= sum && count[sum - coin] === count[sum] - 1) as number,
    )
  return list
}
