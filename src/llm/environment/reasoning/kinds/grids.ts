import type { Random } from '../../../../engine/random/index.ts'
import { defineKind, partly } from '../kind.ts'
import { between, please, until } from '../shared/draws.ts'

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

const size = 4
const cells = Array.from({ length: size * size }, (_, i) => i)
const row = (cell: number): number => Math.floor(cell / size)
const column = (cell: number): number => cell % size
const block = (cell: number): number => 2 * Math.floor(row(cell) / 2) + Math.floor(column(cell) / 2)
const sees = (a: number, b: number): boolean =>
  a !== b && (row(a) === row(b) || column(a) === column(b) || block(a) === block(b))

const rule = '. Every row, column and 2 x 2 block has 1 to 4 once, 0 is empty. Answer with the four rows'

/** Sudoku of four by four with exactly one solution. */
export const sudoku = defineKind({
  name: 'sudoku',
  about: 'a 4 x 4 sudoku with one solution',
  knobs: { empty: { least: 2, most: 10, about: 'cells' } },
  levels: [{ empty: 3 }, { empty: 6 }, { empty: 9 }],
  templates: [
    `[Solve|Fill in|Complete] [this|the] sudoku${rule}:\n<grid>`,
    `${please}[solve|complete] the sudoku${rule}:\n<grid>`,
    `[Give me|Show me|Find] the solution of this sudoku${rule}:\n<grid>`,
  ],
  unseen: [`Which digits are missing here${rule}:\n<grid>`],
  draw(random, { empty }) {
    for (;;) {
      const grid = complete(random)
      for (const cell of random.shuffle(cells)) {
        if (grid.filter((value) => value === 0).length === empty) return { grid }
        const kept = grid[cell]
        grid[cell] = 0
        if (solutions(grid, 2).length > 1) grid[cell] = kept
      }
      if (grid.filter((value) => value === 0).length === empty) return { grid }
    }
  },
  pose({ grid }) {
    const [solution] = solutions(grid, 1)
    const open = grid.filter((value) => value === 0).length
    return {
      key: grid.join(''),
      holes: { grid: printRows(grid) },
      thought: [order(grid, solution).join(', ')],
      answer: printRows(solution),
      score(given) {
        const said = given.replaceAll(/[\s,|;/[\]()-]/g, '')
        if (!/^[1-4]{16}$/.test(said)) return 0
        if (grid.some((value, cell) => value !== 0 && said[cell] !== String(value))) return 0
        const right = cells.filter((cell) => grid[cell] === 0 && said[cell] === String(solution[cell]))
        return right.length === open ? 1 : partly(right.length / open)
      },
    }
  },
})

const printRows = (grid: readonly number[]): string =>
  Array.from({ length: size }, (_, i) => grid.slice(size * i, size * (i + 1)).join(' ')).join('\n')

const candidates = (grid: readonly number[], cell: number): number[] =>
  [1, 2, 3, 4].filter((value) => !cells.some((other) => sees(cell, other) && grid[other] === value))

/** A random full grid. */
function complete(random: Random): number[] {
  const grid = cells.map(() => 0)
  const first = random.shuffle([1, 2, 3, 4])
  first.forEach((value, i) => {
    grid[i] = value
  })
  return random.pick(solutions(grid, 100))
}

/** Up to `most` ways to fill the empty cells. */
function solutions(grid: readonly number[], most: number): number[][] {
  const found: number[][] = []
  const work = [...grid]
  const fill = (cell: number): void => {
    if (found.length >= most) return
    if (cell === cells.length) {
      found.push([...work])
      return
    }
    if (work[cell] !== 0) return fill(cell + 1)
    for (const value of candidates(work, cell)) {
      work[cell] = value
      fill(cell + 1)
      work[cell] = 0
    }
  }
  fill(0)
  return found
}

/** The empty cells (row, column) with their digits; those that allow one digit only come first. */
function order(grid: readonly number[], solution: readonly number[]): string[] {
  const work = [...grid]
  const lines: string[] = []
  for (let left = work.filter((value) => value === 0).length; left > 0; left--) {
    const open = cells.filter((cell) => work[cell] === 0)
    const cell = open.find((one) => candidates(work, one).length === 1) ?? open[0]
    work[cell] = solution[cell]
    lines.push(`${row(cell) + 1} ${column(cell) + 1} is ${solution[cell]}`)
  }
  return lines
}
