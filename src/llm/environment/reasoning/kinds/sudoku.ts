import type { Random } from '../../../../engine/random/index.ts'
import { defineKind } from '../kind.ts'
import { partly } from '../shared/scores.ts'
import { please } from '../shared/draws.ts'

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
