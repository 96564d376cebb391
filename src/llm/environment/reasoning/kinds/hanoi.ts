import { defineKind } from '../kind.ts'
import { until } from '../shared/draws.ts'
import { partly } from '../shared/scores.ts'

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
