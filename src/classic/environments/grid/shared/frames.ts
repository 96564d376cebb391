import type { Drawing, DrawnShape, EnvArrays } from '../../../environment/index.ts'
import {
  type Board,
  boardStateSize,
  cellCharacters,
  cellColours,
  cellIndex,
  cells,
  directionX,
  directionY,
} from './board.ts'

/** Columns and rows of the layout, without surrounding walls. */
function usedSize(state: Float64Array, base: number, board: Board): readonly [number, number] {
  let width = 0
  let height = 0
  for (let y = 0; y < board.side; y++) {
    for (let x = 0; x < board.side; x++) {
      if (state[cellIndex(board, base, x, y)] === cells.wall) continue
      width = Math.max(width, x + 2)
      height = Math.max(height, y + 2)
    }
  }
  return [width, height]
}

/**
 * A frame as text: `.` floor, `#` wall, `G` goal, `k` key, `+` closed door, `/` open door. The agent is `@`, or
 * one of `^>v<` if it has a heading (state 2).
 */
export const boardText =
  (board: Board, heading = false) =>
  ({ state }: EnvArrays, i: number): string => {
    const base = i * boardStateSize(board)
    const [width, height] = usedSize(state, base, board)
    const agent = heading ? '^>v<'[state[base + 2]] : '@'
    const line = (y: number): string =>
      Array.from({ length: width }, (_, x) =>
        x === state[base] && y === state[base + 1]
          ? agent
          : cellCharacters[state[cellIndex(board, base, x, y)]],
      ).join('')
    return Array.from({ length: height }, (_, y) => line(y)).join('\n')
  }

/**
 * A frame of coloured squares, one unit for each cell. The agent is a disc, with a line in the direction of its
 * heading.
 */
export const boardDrawing =
  (board: Board, heading = false) =>
  ({ state }: EnvArrays, i: number): Drawing => {
    const base = i * boardStateSize(board)
    const [width, height] = usedSize(state, base, board)
    const shapes: DrawnShape[] = [{ type: 'rectangle', x: 0, y: 0, width, height, fill: cellColours[0] }]
    shapes.push(...wallRuns(state, base, board, width, height))
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const kind = state[cellIndex(board, base, x, y)]
        if (kind === cells.floor || kind === cells.wall) continue
        const fill = cellColours[kind]
        if (kind === cells.key)
          shapes.push({ type: 'circle', x: x + 0.5, y: height - y - 0.5, radius: 0.25, fill })
        else shapes.push({ type: 'rectangle', x, y: height - y - 1, width: 1, height: 1, fill })
      }
    }
    const x = state[base] + 0.5
    const y = height - state[base + 1] - 0.5
    shapes.push({ type: 'circle', x, y, radius: 0.35, fill: '#c8452d' })
    if (heading) {
      const facing = state[base + 2]
      const tip = [x + 0.48 * directionX[facing], y - 0.48 * directionY[facing]] as const
      shapes.push({ type: 'line', points: [[x, y], tip], stroke: '#5a160b', width: 0.14 })
    }
    return { view: [0, 0, width, height], shapes }
  }

/**
 * Rectangles over the rows and over the columns of walls. They overlap, so no seams appear where the edge of a
 * cell runs through a pixel.
 */
function wallRuns(
  state: Float64Array,
  base: number,
  board: Board,
  width: number,
  height: number,
): DrawnShape[] {
  const runs: DrawnShape[] = []
  const isWall = (x: number, y: number): boolean =>
    x < width && y < height && state[cellIndex(board, base, x, y)] === cells.wall
  const fill = cellColours[cells.wall]
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (!isWall(x, y)) continue
      let [across, down] = [1, 1]
      if (x === 0 || !isWall(x - 1, y)) while (isWall(x + across, y)) across++
      if (y === 0 || !isWall(x, y - 1)) while (isWall(x, y + down)) down++
      const alone = !isWall(x + 1, y) && !isWall(x, y + 1) && !isWall(x - 1, y) && !isWall(x, y - 1)
      if (across > 1 || alone)
        runs.push({ type: 'rectangle', x, y: height - y - 1, width: across, height: 1, fill })
      if (down > 1) runs.push({ type: 'rectangle', x, y: height - y - down, width: 1, height: down, fill })
    }
  }
  return runs
}

/** A mark on a grid without walls: its character and colour, column from the left, row from the top. */
type Mark = readonly [string, number, number]

/** A square of `.` with marks of one character. Later marks cover earlier ones. */
export function roomText(size: number, marks: readonly Mark[]): string {
  const rows = Array.from({ length: size }, () => Array.from({ length: size }, () => '.'))
  for (const [character, x, y] of marks) if (rows[y]?.[x] !== undefined) rows[y][x] = character
  return rows.map((row) => row.join('')).join('\n')
}

/** The same as a drawing. Marks are squares; the last one, the agent, is a disc. */
export function roomDrawing(size: number, marks: readonly Mark[]): Drawing {
  const shapes: DrawnShape[] = [{ type: 'rectangle', x: 0, y: 0, width: size, height: size, fill: '#f4f1ea' }]
  marks.forEach(([fill, x, y], k) => {
    if (k === marks.length - 1)
      shapes.push({ type: 'circle', x: x + 0.5, y: size - y - 0.5, radius: 0.35, fill })
    else shapes.push({ type: 'rectangle', x, y: size - y - 1, width: 1, height: 1, fill })
  })
  return { view: [0, 0, size, size], shapes }
}
