import { AgogeError } from '../../../error.ts'
import type { Drawing, DrawnShape } from '../definition.ts'

/** Red, green, blue (0 to 255) and opacity (0 to 1). */
type Colour = readonly [number, number, number, number]

const named: Readonly<Record<string, string>> = {
  black: '#000',
  white: '#fff',
  grey: '#808080',
  gray: '#808080',
  red: '#f00',
  green: '#008000',
  blue: '#00f',
  yellow: '#ff0',
  orange: '#ffa500',
  purple: '#800080',
  brown: '#a52a2a',
  none: '#0000',
}

/**
 * The colour of a CSS hex code (3, 4, 6 or 8 digits) or of a common name.
 *
 * @throws AgogeError `bad-colour`
 */
export function parseColour(text: string): Colour {
  const hex = named[text] ?? text
  const digits = /^#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.exec(hex)?.[1]
  if (digits === undefined) {
    throw new AgogeError('a drawing has a colour that cannot be painted', {
      code: 'bad-colour',
      given: text,
      expected: `#rgb, #rrggbb, with or without opacity, or one of ${Object.keys(named).join(', ')}`,
    })
  }
  const width = digits.length > 4 ? 2 : 1
  const part = (k: number): number => parseInt(digits.slice(k * width, (k + 1) * width).repeat(3 - width), 16)
  return [part(0), part(1), part(2), digits.length / width === 4 ? part(3) / 255 : 1]
}

/** Default width of a line, in the units of the drawing. */
export const defaultStroke = ({ view }: Drawing): number => 0.01 * Math.max(view[2], view[3])

/** Default height of a text, in the units of the drawing. */
export const defaultTextSize = ({ view }: Drawing): number => 0.08 * view[3]

/** Options of `renderSvg` and `animateSvg`. */
export interface SvgOptions {
  /** Width in pixels. The height follows from the drawing. Default: 480. */
  width?: number
}

/** Renders a drawing as an SVG image, on white like a PNG. */
export function renderSvg(drawing: Drawing, options: SvgOptions = {}): string {
  return svgImage(drawing, options, paint(drawing))
}

/**
 * Renders drawings as one SVG image, which every browser plays in a loop (SMIL animation, no script). All
 * frames have the view of the first.
 *
 * @throws AgogeError `bad-argument` without a drawing
 */
export function animateSvg(
  drawings: readonly Drawing[],
  { framesPerSecond = 20, ...options }: SvgOptions & { framesPerSecond?: number } = {},
): string {
  const [first] = drawings
  if (first === undefined) {
    throw new AgogeError('an animation needs frames', {
      code: 'bad-argument',
      expected: 'at least one drawing',
    })
  }
  if (drawings.length === 1) return renderSvg(first, options)
  const seconds = number(drawings.length / framesPerSecond)
  const frames = drawings.map((drawing, k) => {
    const [from, to] = [k / drawings.length, (k + 1) / drawings.length].map(number)
    // Hides a frame before and after its turn. The first and the last frame have one change less.
    const [values, times] =
      k === 0
        ? ['visible;hidden', `0;${to}`]
        : k === drawings.length - 1
          ? ['hidden;visible', `0;${from}`]
          : ['hidden;visible;hidden', `0;${from};${to}`]
    return (
      `<g visibility="${k === 0 ? 'visible' : 'hidden'}">${paint(drawing)}` +
      `<animate attributeName="visibility" calcMode="discrete" values="${values}" keyTimes="${times}"` +
      ` dur="${seconds}s" repeatCount="indefinite"/></g>`
    )
  })
  return svgImage(first, options, frames.join('\n'))
}

function svgImage({ view }: Drawing, { width = 480 }: SvgOptions, content: string): string {
  const [left, bottom, across, up] = view
  const height = number((width * up) / across)
  const box = [left, -bottom - up, across, up].map(number).join(' ')
  const ground = `<rect x="${number(left)}" y="${number(-bottom - up)}" width="${number(across)}" height="${number(up)}" fill="#fff"/>`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${box}">\n${ground}\n${content}\n</svg>\n`
}

/** The elements of a drawing. Flips y, because SVG counts downwards. */
const paint = (drawing: Drawing): string => drawing.shapes.map((shape) => element(shape, drawing)).join('')

function element(shape: DrawnShape, drawing: Drawing): string {
  switch (shape.type) {
    case 'circle':
      return tag('circle', { cx: shape.x, cy: -shape.y, r: shape.radius, fill: shape.fill })
    case 'rectangle': {
      const { x, y, width, height, fill, angle = 0 } = shape
      const centre = `${number(x + width / 2)} ${number(-y - height / 2)}`
      const turn = angle === 0 ? {} : { transform: `rotate(${number((-angle * 180) / Math.PI)} ${centre})` }
      return tag('rect', { x, y: -y - height, width, height, fill, ...turn })
    }
    case 'line':
      return tag('polyline', {
        points: shape.points.map(([x, y]) => `${number(x)},${number(-y)}`).join(' '),
        fill: 'none',
        stroke: shape.stroke,
        'stroke-width': shape.width ?? defaultStroke(drawing),
        'stroke-linecap': 'round',
        'stroke-linejoin': 'round',
      })
    case 'text': {
      const { x, y, text, fill = '#000', size = defaultTextSize(drawing) } = shape
      const attributes = {
        x,
        y: -y,
        fill,
        'font-size': size,
        'font-family': 'monospace',
        'xml:space': 'preserve',
      }
      return tag('text', attributes, escape(text))
    }
  }
}

function tag(name: string, attributes: Record<string, string | number>, content?: string): string {
  const list = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${typeof value === 'number' ? number(value) : escape(value)}"`,
  )
  return `<${name}${list.join('')}${content === undefined ? '/>' : `>${content}</${name}>`}`
}

/** Six significant digits, finer than any screen. */
const number = (value: number): string => String(Number(value.toPrecision(6)))

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
