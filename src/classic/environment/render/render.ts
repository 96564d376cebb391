import { AgogeError } from '../../../error.ts'
import type { Drawing, EnvArrays } from '../definition.ts'
import { renderTerminal, type TerminalOptions } from './terminal.ts'

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
