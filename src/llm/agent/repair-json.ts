/** Deeper than any call of a tool, and no danger to what walks the value. */
const deepest = 256

/**
 * Mends JSON as chat models damage it: single quotes, trailing commas, bare keys, Python's True/False/None, raw line
 * breaks in strings, missing closing quotes and brackets, text after the end. Meant for remote models only.
 * The work grows linearly with the text.
 *
 * @returns The value, or undefined where it is beyond repair or nested more than 256 levels deep.
 */
export function repairJson(text: string): unknown {
  const out: string[] = []
  const open: string[] = []
  let i = 0
  while (i < text.length) {
    const char = text[i]
    if (char === '"' || char === "'") {
      const end = readString(text, i)
      out.push(end.json)
      i = end.next
    } else if (char === '{' || char === '[') {
      if (open.push(char === '{' ? '}' : ']') > deepest) return undefined
      out.push(char)
      i++
    } else if (char === '}' || char === ']') {
      while (open.length > 0 && open.at(-1) !== char) close(out, open)
      if (open.length === 0) break
      close(out, open)
      i++
      if (open.length === 0) break
    } else {
      const rest = text.slice(i, i + 80)
      const word = /^[A-Za-z_$][\w$]*/.exec(rest)?.[0]
      if (word === undefined) {
        // A number as a whole, or its exponent would be taken for a bare word.
        const plain = /^-?\d[\d.]*(?:[eE][+-]?\d+)?/.exec(rest)?.[0] ?? char
        out.push(plain)
        i += plain.length
      } else {
        out.push(constants[word] ?? JSON.stringify(word))
        i += word.length
      }
    }
  }
  while (open.length > 0) close(out, open)
  try {
    return JSON.parse(out.join(''))
  } catch {
    return undefined
  }
}

const constants: Record<string, string> = {
  __proto__: '"__proto__"',
  true: 'true',
  false: 'false',
  null: 'null',
  True: 'true',
  False: 'false',
  None: 'null',
}

/** Ends the innermost bracket, without a comma in front of its end. */
function close(out: string[], open: string[]): void {
  while (out.at(-1)?.trim() === '') out.pop()
  if (out.at(-1) === ',') out.pop()
  out.push(open.pop() ?? '')
}

/** Reads a string in either kind of quotes from its opening quote; an unclosed one ends with the text. */
function readString(text: string, start: number): { json: string; next: number } {
  const quote = text[start]
  let body = ''
  let i = start + 1
  for (; i < text.length && text[i] !== quote; i++) {
    const char = text[i]
    if (char === '\\') {
      const next = text[i + 1] ?? '\\'
      body += next === "'" ? "'" : `\\${next}`
      i++
    } else if (char === '"') body += '\\"'
    else if (char < ' ') body += JSON.stringify(char).slice(1, -1)
    else body += char
  }
  return { json: `"${body}"`, next: i + 1 }
}
