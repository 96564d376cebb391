import type { Drawing } from '../definition.ts'

/** Width of a character of a monospaced font, in its height. */
const aspect = 0.6

/** Lines of characters as a drawing, for environments that have no other: dark on white. */
export function pageOf(text: string): Drawing {
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
