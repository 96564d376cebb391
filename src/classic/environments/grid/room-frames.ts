import type { DrawnShape, Drawing } from '../../environment/index.ts'

/** A mark on a room without walls: what it is shown as, column from the left, row from the top. */
type Mark = readonly [string, number, number]

/** A square of `.`, with marks of one character; later ones cover earlier ones. */
export function roomText(size: number, marks: readonly Mark[]): string {
  const rows = Array.from({ length: size }, () => Array.from({ length: size }, () => '.'))
  for (const [character, x, y] of marks) if (rows[y]?.[x] !== undefined) rows[y][x] = character
  return rows.map((row) => row.join('')).join('\n')
}

/** The same in colour: marks are squares, the last one, the agent, is a disc. */
export function roomDrawing(size: number, marks: readonly Mark[]): Drawing {
  const shapes: DrawnShape[] = [{ type: 'rectangle', x: 0, y: 0, width: size, height: size, fill: '#f4f1ea' }]
  marks.forEach(([fill, x, y], k) => {
    if (k === marks.length - 1)
      shapes.push({ type: 'circle', x: x + 0.5, y: size - y - 0.5, radius: 0.35, fill })
    else shapes.push({ type: 'rectangle', x, y: size - y - 1, width: 1, height: 1, fill })
  })
  return { view: [0, 0, size, size], shapes }
}
