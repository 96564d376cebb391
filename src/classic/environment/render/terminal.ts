import type { Drawing } from '../definition.ts'
import { rasterise } from './rasterise.ts'
import type { Image } from './rasterise.ts'

export interface TerminalOptions {
  /** Characters in a line. Default: 60. */
  columns?: number
  /** Maximum number of lines. Default: 24. */
  lines?: number
  /** Whether to use colours. Default: true if the output is a terminal and NO_COLOR is not set. */
  colour?: boolean
}

/**
 * Renders a drawing as lines of half-block characters. Each character shows two pixels, one above the other.
 * Uses 24-bit colour, or shapes that contrast with white.
 */
export function renderTerminal(drawing: Drawing, options: TerminalOptions = {}): string {
  const { columns = 60, lines = 24, colour = hasColour() } = options
  const [, , across, up] = drawing.view
  // A character is about twice as high as wide, so its halves are square.
  const scale = Math.min(columns / across, (2 * lines) / up)
  const width = Math.max(1, Math.round(across * scale))
  const height = Math.max(2, 2 * Math.round((up * scale) / 2))
  const image = rasterise(drawing, width, height)
  const cell = colour ? colouredCell : plainCell
  return Array.from({ length: height / 2 }, (_, row) => {
    const line = Array.from({ length: width }, (_, x) => cell(image, x, 2 * row)).join('')
    return colour ? `${line}\u001b[0m` : line.trimEnd()
  }).join('\n')
}

function hasColour(): boolean {
  // Browsers have no process.
  const { process } = globalThis as { process?: NodeJS.Process }
  return process?.stdout?.isTTY === true && process.env.NO_COLOR === undefined
}

function colouredCell({ width, pixels }: Image, x: number, y: number): string {
  const upper = pixels.subarray((y * width + x) * 3, (y * width + x) * 3 + 3).join(';')
  const lower = pixels.subarray(((y + 1) * width + x) * 3, ((y + 1) * width + x) * 3 + 3).join(';')
  return `\u001b[38;2;${upper};48;2;${lower}m▀`
}

/** Marks pixels that are darker or more saturated than a light background. */
function plainCell({ width, pixels }: Image, x: number, y: number): string {
  const stands = (row: number): boolean => {
    const k = (row * width + x) * 3
    return Math.min(pixels[k], pixels[k + 1], pixels[k + 2]) < 205
  }
  return stands(y) ? (stands(y + 1) ? '█' : '▀') : stands(y + 1) ? '▄' : ' '
}
