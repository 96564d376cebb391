/**
 * Position of the first syntax error of a JSON text: line and column from 1, in UTF-16 units. Some engines'
 * `JSON.parse` does not report it. Undefined for valid JSON.
 */
export function locateJsonError(text: string): { line: number; column: number } | undefined {
  const offset = failureOffset(text)
  if (offset === undefined) return undefined
  const before = text.slice(0, offset)
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
}

const scalar = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y
// oxlint-disable-next-line no-control-regex -- JSON forbids raw control characters in strings.
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const space = /[ \t\r\n]*/y

function failureOffset(text: string): number | undefined {
  let at = 0
  const open: ('}' | ']')[] = []

  function eat(pattern: RegExp): boolean {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match === null) return false
    at += match[0].length
    return true
  }

  function key(): boolean {
    eat(space)
    if (!eat(string)) return false
    eat(space)
    if (text[at] !== ':') return false
    at++
    return true
  }

  for (;;) {
    // Expects a value here.
    eat(space)
    const char = text[at]
    if (char === '{' || char === '[') {
      at++
      eat(space)
      const close = char === '{' ? '}' : ']'
      if (text[at] !== close) {
        open.push(close)
        if (close === '}' && !key()) return at
        continue
      }
      at++
    } else if (!eat(string) && !eat(scalar)) return at
    // After a value: closing brackets, then a comma or the end.
    for (;;) {
      eat(space)
      if (open.length === 0) return at === text.length ? undefined : at
      if (text[at] !== open.at(-1)) break
      open.pop()
      at++
    }
    if (text[at] !== ',') return at
    at++
    if (open.at(-1) === '}' && !key()) return at
  }
}
