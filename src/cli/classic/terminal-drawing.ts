import type { DrawnShape, Drawing } from '../../classic/environment/index.ts'

/** Dots of a braille character, by column and row. */
const dots = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
]

/**
 * Renders a drawing as lines of braille characters, 2 x 4 dots each. The width is given; the view of the drawing
 * determines the height.
 */
export function drawText({ view, shapes }: Drawing, columns = 64): string {
  const [left, bottom, width, height] = view
  const across = columns * 2
  const rows = Math.max(1, Math.round((across * height) / width / 4))
  const down = rows * 4
  const cells = new Uint8Array(columns * rows)
  const labels: { at: number; row: number; text: string }[] = []
  const column = (x: number): number => ((x - left) / width) * (across - 1)
  const line = (y: number): number => (1 - (y - bottom) / height) * (down - 1)

  function dot(c: number, r: number): void {
    const [x, y] = [Math.round(c), Math.round(r)]
    if (x < 0 || y < 0 || x >= across || y >= down) return
    cells[(y >> 2) * columns + (x >> 1)] |= dots[x & 1][y & 3]
  }

  function stroke(x0: number, y0: number, x1: number, y1: number): void {
    const [c0, r0, c1, r1] = [column(x0), line(y0), column(x1), line(y1)]
    const steps = Math.min(4 * across, Math.max(1, Math.ceil(Math.max(Math.abs(c1 - c0), Math.abs(r1 - r0)))))
    for (let i = 0; i <= steps; i++) dot(c0 + ((c1 - c0) * i) / steps, r0 + ((r1 - r0) * i) / steps)
  }

  function outline(points: readonly (readonly [number, number])[]): void {
    for (let i = 1; i < points.length; i++) stroke(...points[i - 1], ...points[i])
  }

  function paint(shape: DrawnShape): void {
    switch (shape.type) {
      case 'line':
        return outline(shape.points)
      case 'circle':
        return outline(
          Array.from({ length: 33 }, (_, i) => {
            const angle = (i * Math.PI) / 16
            return [
              shape.x + shape.radius * Math.cos(angle),
              shape.y + shape.radius * Math.sin(angle),
            ] as const
          }),
        )
      case 'rectangle':
        return outline(corners(shape))
      case 'text':
        labels.push({ at: Math.round(column(shape.x) / 2), row: line(shape.y) >> 2, text: shape.text })
    }
  }

  for (const shape of shapes) paint(shape)
  return Array.from({ length: rows }, (_, r) => {
    const characters = Array.from(cells.subarray(r * columns, (r + 1) * columns), (bits) =>
      bits === 0 ? ' ' : String.fromCharCode(0x2800 + bits),
    )
    for (const { at, row, text } of labels)
      if (row === r)
        for (const [i, c] of Array.from(text).entries())
          if (at + i >= 0 && at + i < columns) characters[at + i] = c
    return characters.join('').trimEnd()
  }).join('\n')
}

/** A closed polygon, rotated about the centre by `angle` rad. */
function corners({ x, y, width, height, angle = 0 }: Extract<DrawnShape, { type: 'rectangle' }>) {
  const [cx, cy] = [x + width / 2, y + height / 2]
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
  return [
    [-1, -1],
    [1, -1],
    [1, 1],
    [-1, 1],
    [-1, -1],
  ].map(([a, b]) => {
    const [dx, dy] = [(a * width) / 2, (b * height) / 2]
    return [cx + dx * cos - dy * sin, cy + dx * sin + dy * cos] as const
  })
}
