import type { Drawing, EnvArrays } from '../definition.ts'
import { rasterise } from './rasterise.ts'
import type { Image } from './rasterise.ts'
import { AgogeError } from '../../../error.ts'

/** Options of `renderTerminal`. */
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

/** Width of a monospaced character, relative to its height. */
const aspect = 0.6

/** Renders lines of text as a drawing, dark on white, for environments without `draw`. */
function pageOf(text: string): Drawing {
  const lines = text.split('\n')
  const columns = Math.max(12, ...lines.map((line) => line.length))
  const view = [-1, -lines.length - 1, columns * aspect + 2, lines.length + 2] as const
  return {
    view,
    shapes: [
      { type: 'rectangle', x: view[0], y: view[1], width: view[2], height: view[3], fill: '#ffffff' },
      ...lines.map((line, k) => ({ type: 'text' as const, x: 0, y: -k - 0.8, text: line, size: 1 })),
    ],
  }
}

/** The source of a frame: a vector environment, or the `vector` of a single one. */
export interface Rendered {
  readonly definition: {
    readonly name: string
    readonly draw?: (envs: EnvArrays, i: number) => Drawing
    readonly text?: (envs: EnvArrays, i: number) => string
  }
  readonly envs: EnvArrays
}

/**
 * The drawing of the state of an environment: that of its `draw`, otherwise its text as a page.
 *
 * @throws AgogeError `no-drawing` for an environment with neither
 */
export function drawEnv({ definition, envs }: Rendered, envIndex = 0): Drawing {
  checkEnv(definition.name, envs, envIndex)
  if (definition.draw !== undefined) return definition.draw(envs, envIndex)
  if (definition.text !== undefined) return pageOf(definition.text(envs, envIndex))
  throw new AgogeError(`${definition.name} cannot be drawn`, {
    code: 'no-drawing',
    given: definition.name,
    expected: 'an environment with `draw` or `text`',
  })
}

/**
 * A frame as text: that of the environment's `text`, otherwise its drawing in half-blocks.
 *
 * @throws AgogeError `no-drawing` for an environment with neither
 */
export function renderText(rendered: Rendered, envIndex = 0, options: TerminalOptions = {}): string {
  const { definition, envs } = rendered
  checkEnv(definition.name, envs, envIndex)
  return definition.text === undefined
    ? renderTerminal(drawEnv(rendered, envIndex), options)
    : definition.text(envs, envIndex)
}

function checkEnv(name: string, envs: EnvArrays, envIndex: number): void {
  if (Number.isInteger(envIndex) && envIndex >= 0 && envIndex < envs.count) return
  throw new AgogeError(`${name} has no environment ${envIndex}`, {
    code: 'bad-argument',
    given: envIndex,
    expected: `a whole number from 0 to ${envs.count - 1}`,
  })
}
