/** Deeper JSON is refused: whatever walks it by recursion, `JSON.stringify` among them, would run out of stack. */
export const deepestJson = 256

/** How deep the brackets of a JSON text are nested. Looks at each character once, and does not recurse. */
export function nestingOf(json: string): number {
  let depth = 0
  let deepest = 0
  let isText = false
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i)
    if (isText) {
      if (code === backslash) i++
      else if (code === quote) isText = false
    } else if (code === quote) isText = true
    else if (code === openBrace || code === openBracket) deepest = Math.max(deepest, ++depth)
    else if (code === closeBrace || code === closeBracket) depth--
  }
  return deepest
}

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = Array.from('"\\{}[]', (symbol) =>
  symbol.charCodeAt(0),
)

/**
 * The value of the JSON that a request carries.
 *
 * @param refuse is called with what is wrong, and throws the error of its protocol
 */
export function parseJsonBody(
  bytes: Uint8Array,
  refuse: (problem: string, expected: string) => never,
): unknown {
  const text = new TextDecoder().decode(bytes)
  if (nestingOf(text) > deepestJson) refuse('is nested too deep', `at most ${deepestJson} levels`)
  try {
    return JSON.parse(text) as unknown
  } catch {
    return refuse('is not JSON', 'JSON')
  }
}
