/** Text that is already markup. `html` escapes everything else. */
export interface Markup {
  readonly markup: string
}

type Piece = string | number | Markup | readonly Markup[]

/** Markup from a template. Interpolated strings and numbers are escaped; markup and lists of it are inserted unchanged. */
export function html(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Markup {
  return { markup: strings.map((text, i) => (i === 0 ? text : toMarkup(pieces[i - 1]) + text)).join('') }
}

export const nothing: Markup = { markup: '' }

/** Styles of this repository. Never pass text of a run. */
export function trusted(markup: string): Markup {
  return { markup }
}

function toMarkup(piece: Piece): string {
  if (typeof piece === 'number') return String(piece)
  if (typeof piece === 'string') return escapeHtml(piece)
  if ('markup' in piece) return piece.markup
  return piece.map(({ markup }) => markup).join('')
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character])
}

/**
 * A name as lines of at most `width` characters, broken after `-`, `_`, `+`, `>`, `/` or a space if possible. Nothing is cut
 * off.
 */
export function breakName(name: string, width: number): string[] {
  const lines: string[] = []
  let rest = name
  while (rest.length > width) {
    const at = lastBreak(rest.slice(0, width))
    lines.push(rest.slice(0, at).trimEnd())
    rest = rest.slice(at)
  }
  return [...lines, rest]
}

/** Breaks after the last separator, unless that would make too many lines. */
function lastBreak(line: string): number {
  const at = Math.max(...['-', '_', '+', '>', '/', ' '].map((separator) => line.lastIndexOf(separator))) + 1
  return at * 3 >= line.length ? at : line.length
}
