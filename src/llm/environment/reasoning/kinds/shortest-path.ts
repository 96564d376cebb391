import type { Random } from '../../../../engine/random/index.ts'
import { defineKind } from '../kind.ts'
import { until } from '../shared/draws.ts'
import { partly } from '../shared/scores.ts'
import { please } from '../shared/words.ts'

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
