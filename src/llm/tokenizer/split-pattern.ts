import { AgogeError } from '../../error.ts'

/** GPT-2's pre-tokens: what `ByteLevel` splits by itself. */
export const gpt2Pattern = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

/** Unicode's White_Space, which is what `\s` stands for in the reference; in JavaScript it also has U+FEFF, but not U+0085. */
const whiteSpace = String.raw`\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000`
/** What else than its two cases matches an ASCII letter without regard to case. */
const folded: Record<string, string> = { s: '\u017f', k: '\u212a' }

const escapes: Record<string, string> = {
  s: whiteSpace,
  d: String.raw`\p{Nd}`,
  r: String.raw`\r`,
  n: String.raw`\n`,
  t: String.raw`\t`,
}

/**
 * Splits texts by a pattern of a `tokenizer.json` (Oniguruma's syntax): matches and what lies between them are pieces, which
 * joined give the text back. Throws `AgogeError` (`bad-tokenizer`) for what cannot be told in JavaScript.
 */
export function createSplitter(pattern: string): (text: string) => string[] {
  let regex: RegExp
  try {
    regex = new RegExp(translate(pattern), 'gu')
  } catch (cause) {
    throw new AgogeError('The tokenizer splits texts by a pattern that cannot be used.', {
      code: 'bad-tokenizer',
      given: pattern,
      expected:
        'a pattern of literals, classes, \\p{..}, \\s, (?i:words), (?:..), (?=..), (?!..) and greedy counts',
      cause,
    })
  }
  return (text) => {
    const pieces: string[] = []
    let end = 0
    for (const match of text.matchAll(regex)) {
      if (match[0] === '') continue
      if (match.index > end) pieces.push(text.slice(end, match.index))
      pieces.push(match[0])
      end = match.index + match[0].length
    }
    if (end < text.length) pieces.push(text.slice(end))
    return pieces
  }
}

/** The same pattern as JavaScript reads it. Node 20 has no `(?i:`, so the cases are written out. */
function translate(pattern: string): string {
  let result = ''
  let inClass = false
  /** Depth of groups, and that of the outermost one without regard to case. */
  let depth = 0
  let anyCase: number | undefined
  for (let i = 0; i < pattern.length; i++) {
    const rest = pattern.slice(i)
    const character = pattern[i]
    if (character === '\\') {
      const property = /^\\[pP]\{\^?[A-Za-z_]+\}/.exec(rest)?.[0]
      if (property !== undefined) {
        result += property
        i += property.length - 1
        continue
      }
      i++
      result += escaped(pattern[i], inClass)
    } else if (inClass) {
      if (character === '[' || rest.startsWith('&&')) throw new Error('classes inside classes')
      if (character === ']') inClass = false
      result += anyCase === undefined ? character : bothCases(character)
    } else if (character === '[') {
      inClass = true
      result += character
      if (pattern[i + 1] === '^') result += pattern[++i]
    } else if (character === '(') {
      depth++
      const opening = /^\(\?(i:|:|=|!|<=|<!)/.exec(rest)?.[0]
      if (opening === undefined && pattern[i + 1] === '?') throw new Error('an unknown group')
      if (opening === '(?i:') anyCase ??= depth
      result += opening === '(?i:' ? '(?:' : (opening ?? '(?:')
      i += (opening ?? '(').length - 1
    } else if (character === ')') {
      if (anyCase === depth) anyCase = undefined
      depth--
      result += character
    } else if ('.^$'.includes(character)) throw new Error('dots and anchors differ between the two')
    else if ('*+?}'.includes(character) && pattern[i + 1] === '+') throw new Error('possessive counts')
    else result += anyCase === undefined ? character : insensitive(character)
  }
  return result
}

function escaped(name: string | undefined, inClass: boolean): string {
  if (name === undefined) throw new Error('a lone backslash')
  const plain = escapes[name]
  if (plain !== undefined) return inClass ? plain : `[${plain}]`
  if (name === 'S' && !inClass) return `[^${whiteSpace}]`
  if (/[A-Za-z0-9]/.test(name)) throw new Error(`the escape ${name}`)
  return /[\^$\\.*+?()[\]{}|/-]/.test(name) && (inClass || name !== '-') ? `\\${name}` : name
}

function bothCases(letter: string): string {
  if (letter === '-') throw new Error('ranges without regard to case')
  if (!/[a-z]/i.test(letter)) return letter
  const small = letter.toLowerCase()
  return `${small}${small.toUpperCase()}${folded[small] ?? ''}`
}

function insensitive(letter: string): string {
  return /[a-z]/i.test(letter) ? `[${bothCases(letter)}]` : letter
}
