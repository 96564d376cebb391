/**
 * Mends JSON as chat models damage it: single quotes, trailing commas, bare keys, Python's True/False/None, raw line
 * breaks in strings, missing closing quotes and brackets, text after the end. Meant for remote models only.
 *
 * @returns The value, or undefined where it is beyond repair.
 */
export function repairJson(text: string): unknown {
  let out = ''
  const open: string[] = []
  let i = 0
  while (i < text.length) {
    const char = text[i]
    if (char === '"' || char === "'") {
      const end = readString(text, i)
      out += end.json
      i = end.next
    } else if (char === '{' || char === '[') {
      open.push(char === '{' ? '}' : ']')
      out += char
      i++
    } else if (char === '}' || char === ']') {
      while (open.length > 0 && open.at(-1) !== char) out = dropComma(out) + open.pop()
      if (open.length === 0) break
      open.pop()
      out = dropComma(out) + char
      i++
      if (open.length === 0) break
    } else {
      const rest = text.slice(i, i + 80)
      const word = /^[A-Za-z_$][\w$]*/.exec(rest)?.[0]
      if (word === undefined) {
        // A number as a whole, or its exponent would be taken for a bare word.
        const plain = /^-?\d[\d.]*(?:[eE][+-]?\d+)?/.exec(rest)?.[0] ?? char
        out += plain
        i += plain.length
      } else {
        out += constants[word] ?? JSON.stringify(word)
        i += word.length
      }
    }
  }
  out = dropComma(out)
  while (open.length > 0) out += open.pop()
  try {
    return JSON.parse(out)
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

function dropComma(json: string): string {
  return json.replace(/,\s*$/, '')
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
