import type { Random } from '../../../../engine/random/index.ts'
import { defineKind } from '../kind.ts'
import { between, please, until } from '../shared/draws.ts'
import { partly } from '../shared/scores.ts'

const directions = ['north', 'east', 'south', 'west'] as const
const steps = [
  [0, 1],
  [1, 0],
  [0, -1],
  [-1, 0],
] as const

/** Where a walker ends who turns and goes straight on. */
export const gridWalk = defineKind({
  name: 'grid-walk',
  about: 'where a robot stands after turns and steps',
  knobs: {
    moves: { least: 1, most: 10, about: 'straight on, with turns between' },
    largest: { least: 5, most: 20, about: 'number of steps of a move' },
  },
  levels: [
    { moves: 2, largest: 9 },
    { moves: 3, largest: 9 },
    { moves: 6, largest: 12 },
  ],
  templates: [
    'A robot [stands|starts] at (0, 0) and [faces|looks] <direction>. It <walk>. [Where is it|At which (x, y) is it|Where does it end]? North is +y, east is +x',
    `${please}[follow|track] a robot from (0, 0), facing <direction>, that <walk>, and [give|tell me] its last (x, y). North is +y, east is +x`,
  ],
  unseen: [
    'From the origin, with its front to the <direction>, a machine <walk>. Write its coordinates; y grows to the north, x to the east',
  ],
  draw: (random, { moves, largest }) => ({
    facing: random.int(4),
    walk: Array.from({ length: moves }, () => ({
      turn: random.pick([1, 3]),
      by: between(random, 1, largest),
    })),
  }),
  pose({ facing, walk }) {
    let [direction, x, y] = [facing, 0, 0]
    const lines: string[] = []
    const walked: string[] = []
    walk.forEach(({ turn, by }, i) => {
      // The first move goes where the robot faces already.
      if (i > 0) {
        direction = (direction + turn) % 4
        walked.push(turn === 1 ? 'turns right' : 'turns left')
      }
      walked.push(`goes ${by}`)
      x += by * steps[direction][0]
      y += by * steps[direction][1]
      lines.push(`${directions[direction]} ${by}: ${x}, ${y}`)
    })
    return {
      key: `${directions[facing]}: ${walked.join(', ')}`,
      holes: { direction: directions[facing], walk: walked.join(', ') },
      thought: lines,
      answer: `(${x}, ${y})`,
      score(given) {
        const said = /^\(?(?:x = )?([+-]?\d{1,6})\s*[, ]\s*(?:y = )?([+-]?\d{1,6})\)?$/.exec(
          given.replaceAll('−', '-'),
        )
        if (said === null) return 0
        const right = Number(Number(said[1]) === x) + Number(Number(said[2]) === y)
        return right === 2 ? 1 : partly(right / 2)
      },
    }
  },
})

const moves: Readonly<Record<string, readonly [number, number]>> = {
  R: [0, 1],
  D: [1, 0],
  L: [0, -1],
  U: [-1, 0],
}
const format = '. S is the start, G the goal, # a wall. Answer with the letters U, D, L, R'

/** A shortest way through a small grid; several may be right. */
export const shortestPath = defineKind({
  name: 'shortest-path',
  about: 'the moves of a shortest way through a grid with walls',
  knobs: {
    size: { least: 3, most: 8, about: 'of the grid, both ways' },
    walls: { least: 0, most: 45, about: 'per cent of the cells' },
  },
  levels: [
    { size: 3, walls: 20 },
    { size: 4, walls: 30 },
    { size: 6, walls: 35 },
  ],
  templates: [
    `[Find|Give me|Show me] [the shortest|a shortest] [way|path] from S to G${format}\n<grid>`,
    `${please}go from S to G in as few [steps|moves] as possible${format}\n<grid>`,
    `[How|Which way] does one get from S to G [fastest|in the fewest moves]${format}\n<grid>`,
  ],
  unseen: [`Leave the maze at G by the quickest route${format}\n<grid>`],
  draw(random, { size, walls }) {
    return until(() => {
      const rows = drawGrid(random, size, walls)
      return distances(rows)[0] > 1 ? { rows } : undefined
    })
  },
  pose({ rows }) {
    const [length] = distances(rows)
    const path = shortest(rows)
    return {
      key: rows.join('\n'),
      holes: { grid: rows.join('\n') },
      thought: [walked(rows, path).join(' ')],
      answer: path,
      score: (given) => scorePath(rows, given, length),
    }
  },
})

function drawGrid(random: Random, size: number, walls: number): string[] {
  const cells: string[] = Array.from({ length: size * size }, () => (random.next() * 100 < walls ? '#' : '.'))
  const [start, goal] = random.shuffle(cells.map((_, i) => i))
  cells[start] = 'S'
  cells[goal] = 'G'
  return Array.from({ length: size }, (_, row) => cells.slice(row * size, (row + 1) * size).join(''))
}

const find = (rows: readonly string[], letter: string): number => rows.join('').indexOf(letter)

/** The cell after a move; -1 where a wall or the edge stops it. */
function after(rows: readonly string[], cell: number, move: string): number {
  const size = rows.length
  const [down, right] = moves[move]
  const row = Math.floor(cell / size) + down
  const column = (cell % size) + right
  const letter = rows[row]?.[column]
  return letter === undefined || letter === '#' ? -1 : row * size + column
}

/** Steps to the goal from the start, then from every cell; Infinity where there is no way. */
function distances(rows: readonly string[]): number[] {
  const far = Array.from({ length: rows.length ** 2 }, () => Infinity)
  const queue = [find(rows, 'G')]
  far[queue[0]] = 0
  for (const cell of queue) {
    for (const move of Object.keys(moves)) {
      const next = after(rows, cell, move)
      if (next < 0 || far[next] <= far[cell] + 1) continue
      far[next] = far[cell] + 1
      queue.push(next)
    }
  }
  const start = far[find(rows, 'S')]
  return [start === Infinity ? -1 : start, ...far]
}

function shortest(rows: readonly string[]): string {
  const [length, ...far] = distances(rows)
  let path = ''
  for (let cell = find(rows, 'S'); path.length < length;) {
    const move = Object.keys(moves).find((name) => {
      const next = after(rows, cell, name)
      return next >= 0 && far[next] === far[cell] - 1
    }) as string
    cell = after(rows, cell, move)
    path += move
  }
  return path
}

/** Row and column of every cell of the way, from 1. */
function walked(rows: readonly string[], path: string): string[] {
  let cell = find(rows, 'S')
  const said = (): string => `${Math.floor(cell / rows.length) + 1},${(cell % rows.length) + 1}`
  return [
    said(),
    ...Array.from(path).map((move) => {
      cell = after(rows, cell, move)
      return `${move} ${said()}`
    }),
  ]
}

/** A detour to the goal is worth a half at most, a way that stays open less by how far it got, a wall nothing. */
function scorePath(rows: readonly string[], given: string, length: number): number {
  const path = given.toUpperCase().replaceAll(/[\s,>-]/g, '')
  if (path === '' || path.length > 200 || !/^[UDLR]+$/.test(path)) return 0
  let cell = find(rows, 'S')
  for (const move of path) {
    cell = after(rows, cell, move)
    if (cell < 0) return 0
  }
  const [, ...far] = distances(rows)
  if (far[cell] === 0) return path.length === length ? 1 : partly(length / path.length)
  return partly(0.5 * (1 - far[cell] / length))
}
