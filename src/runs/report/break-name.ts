/**
 * A name as lines of at most `width` characters, broken after `-`, `_`, `+`, `>`, `/` or a space where there is one, so that nothing of
 * it is cut off.
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

/** After the last separator, but not so early that the lines grow many. */
function lastBreak(line: string): number {
  const at = Math.max(...['-', '_', '+', '>', '/', ' '].map((separator) => line.lastIndexOf(separator))) + 1
  return at * 3 >= line.length ? at : line.length
}
