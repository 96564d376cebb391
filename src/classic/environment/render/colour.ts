import { AgogeError } from '../../../error.ts'

/** Red, green, blue (0 to 255) and opacity (0 to 1). */
export type Colour = readonly [number, number, number, number]

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

/** The colour of a CSS hex code (3, 4, 6 or 8 digits) or of a common name. Throws `bad-colour`. */
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
