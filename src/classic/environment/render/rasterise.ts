import type { Drawing, DrawnShape } from '../definition.ts'
import { defaultStroke, defaultTextSize, parseColour } from './svg.ts'

/** A font of 3x5 dots: five octal digits for each character, one for each row. The leftmost dot is worth 4. */
const glyphs: Readonly<Record<string, string>> = {
  A: '25755',
  B: '65656',
  C: '34443',
  D: '65556',
  E: '74647',
  F: '74644',
  G: '34553',
  H: '55755',
  I: '72227',
  J: '11152',
  K: '55655',
  L: '44447',
  M: '57755',
  N: '65555',
  O: '25552',
  P: '65644',
  Q: '25573',
  R: '65655',
  S: '34216',
  T: '72222',
  U: '55557',
  V: '55552',
  W: '55775',
  X: '55255',
  Y: '55222',
  Z: '71247',
  0: '75557',
  1: '26227',
  2: '61247',
  3: '61216',
  4: '55711',
  5: '74616',
  6: '34652',
  7: '71222',
  8: '25252',
  9: '25316',
  '.': '00002',
  ',': '00024',
  ':': '02020',
  '-': '00700',
  '+': '02720',
  '/': '11244',
  '%': '51245',
  '(': '24442',
  ')': '21112',
  '=': '07070',
  '!': '22202',
  '?': '61202',
  _: '00007',
  '°': '25200',
  '*': '05250',
  "'": '22000',
  '@': '25743',
  '#': '57575',
  '|': '22222',
  '<': '12421',
  '>': '42124',
  '^': '25000',
  ' ': '00000',
}

/** Whether a character has a dot in a row (0 to 4) and a column (0 to 2). Only capitals; others become `?`. */
export function dotOf(character: string, row: number, column: number): boolean {
  const glyph = glyphs[character.toUpperCase()] ?? glyphs['?']
  return (Number(glyph[row]) & (4 >> column)) !== 0
}

/** Pixels row by row from the top, as red, green and blue from 0 to 255. */
export interface Image {
  width: number
  height: number
  /** [height, width, 3]. */
  pixels: Uint8Array<ArrayBuffer>
}

/** Signed distance in pixels from a point to the edge of a shape, negative inside. */
type Distance = (x: number, y: number) => number

/**
 * Paints a drawing on white, `width` pixels wide. Default height: that of the drawing. Antialiases edges by the
 * distance of a pixel to the edge.
 */
export function rasterise(drawing: Drawing, width: number, height?: number): Image {
  const [left, bottom, across, up] = drawing.view
  const rows = height ?? Math.max(1, Math.round((width * up) / across))
  const image: Image = { width, height: rows, pixels: new Uint8Array(width * rows * 3).fill(255) }
  const scaleX = width / across
  const scaleY = rows / up
  const scale = Math.min(scaleX, scaleY)
  const toX = (x: number): number => (x - left) * scaleX
  const toY = (y: number): number => (bottom + up - y) * scaleY
  for (const shape of drawing.shapes) paintShape(shape)
  return image

  function paintShape(shape: DrawnShape): void {
    switch (shape.type) {
      case 'circle': {
        const [x, y, radius] = [toX(shape.x), toY(shape.y), shape.radius * scale]
        fill(
          shape.fill,
          x - radius,
          y - radius,
          x + radius,
          y + radius,
          (px, py) => Math.hypot(px - x, py - y) - radius,
        )
        return
      }
      case 'rectangle': {
        const [halfX, halfY] = [(shape.width * scaleX) / 2, (shape.height * scaleY) / 2]
        const [x, y] = [toX(shape.x) + halfX, toY(shape.y) - halfY]
        const angle = shape.angle ?? 0
        const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
        const reachX = halfX * Math.abs(cos) + halfY * Math.abs(sin)
        const reachY = halfX * Math.abs(sin) + halfY * Math.abs(cos)
        fill(shape.fill, x - reachX, y - reachY, x + reachX, y + reachY, (px, py) => {
          const along = (px - x) * cos - (py - y) * sin
          const across = (px - x) * sin + (py - y) * cos
          return Math.max(Math.abs(along) - halfX, Math.abs(across) - halfY)
        })
        return
      }
      case 'line': {
        // At least one pixel wide, so that it is visible.
        const radius = Math.max(0.5, ((shape.width ?? defaultStroke(drawing)) * scale) / 2)
        const points = shape.points.map(([x, y]) => [toX(x), toY(y)] as const)
        const xs = points.map(([x]) => x)
        const ys = points.map(([, y]) => y)
        fill(
          shape.stroke,
          Math.min(...xs) - radius,
          Math.min(...ys) - radius,
          Math.max(...xs) + radius,
          Math.max(...ys) + radius,
          (px, py) => distanceToLine(px, py, points) - radius,
        )
        return
      }
      case 'text':
        paintText(shape)
    }
  }

  /** Letters of 3x5 dots. Their height is two thirds of the size, as that of capitals. */
  function paintText(shape: Extract<DrawnShape, { type: 'text' }>): void {
    const dot = ((shape.size ?? defaultTextSize(drawing)) * scale * 0.7) / 5
    const top = toY(shape.y) - 5 * dot
    Array.from(shape.text).forEach((character, place) => {
      for (let cell = 0; cell < 15; cell++) {
        const [row, column] = [Math.floor(cell / 3), cell % 3]
        if (!dotOf(character, row, column)) continue
        const x = toX(shape.x) + (place * 4 + column) * dot
        const y = top + row * dot
        fill(
          shape.fill ?? '#000',
          x,
          y,
          x + dot,
          y + dot,
          (px, py) => Math.max(Math.abs(px - x - dot / 2), Math.abs(py - y - dot / 2)) - dot / 2,
        )
      }
    })
  }

  /** Paints the pixels between two corners, by their coverage. */
  function fill(paint: string, x0: number, y0: number, x1: number, y1: number, distance: Distance): void {
    const [red, green, blue, opacity] = parseColour(paint)
    const endX = Math.min(width, Math.ceil(x1 + 0.5))
    const endY = Math.min(rows, Math.ceil(y1 + 0.5))
    for (let y = Math.max(0, Math.floor(y0 - 0.5)); y < endY; y++) {
      for (let x = Math.max(0, Math.floor(x0 - 0.5)); x < endX; x++) {
        const covered = Math.min(1, Math.max(0, 0.5 - distance(x + 0.5, y + 0.5))) * opacity
        if (covered === 0) continue
        const k = (y * width + x) * 3
        image.pixels[k] += (red - image.pixels[k]) * covered
        image.pixels[k + 1] += (green - image.pixels[k + 1]) * covered
        image.pixels[k + 2] += (blue - image.pixels[k + 2]) * covered
      }
    }
  }
}

function distanceToLine(x: number, y: number, points: readonly (readonly [number, number])[]): number {
  let nearest = points.length === 1 ? Math.hypot(x - points[0][0], y - points[0][1]) : Infinity
  for (let k = 1; k < points.length; k++) {
    const [ax, ay] = points[k - 1]
    const [dx, dy] = [points[k][0] - ax, points[k][1] - ay]
    const length = dx * dx + dy * dy
    const along = length === 0 ? 0 : Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / length))
    nearest = Math.min(nearest, Math.hypot(x - ax - along * dx, y - ay - along * dy))
  }
  return nearest
}
