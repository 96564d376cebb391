import type { Random } from '../../../../engine/random/index.ts'
import type { Work } from '../../../../untrusted/linear-pattern.ts'

/** Repetitions above the least that an open quantifier (`*`, `+`, `{2,}`) gets, and characters of a text in all. */
const mostMore = 4
const mostCharacters = 2000
const letters = 'abcdefghijklmnopqrstuvwxyz'
const digits = '0123456789'
const words = `${letters}${letters.toUpperCase()}${digits}_`
const printable = `${words} .,:;-+*/=()@#!?&%$"'<>[]{}|~^`

class NotUnderstood extends Error {}

/**
 * Makes a text that a regular expression is likely to match, by walking through it: a branch of every choice, a member
 * of every class. Looking ahead and behind is skipped, so the caller tests the text. Returns undefined where the
 * pattern has something else that cannot be written out (a reference to a group, a class of Unicode).
 *
 * @example
 * textFromPattern('^Q\\d{3}$', createRandom(1), work) // 'Q407'
 */
export function textFromPattern(source: string, random: Random, work: Work): string | undefined {
  let at = 0
  const peek = (): string => source[at] ?? ''
  const fail = (): never => {
    throw new NotUnderstood(source)
  }

  function choice(depth: number): () => string {
    if (depth > 50) fail()
    const branches = [sequence(depth)]
    while (peek() === '|') {
      at++
      branches.push(sequence(depth))
    }
    return () => random.pick(branches)()
  }

  function sequence(depth: number): () => string {
    const parts: (() => string)[] = []
    while (at < source.length && peek() !== '|' && peek() !== ')') parts.push(quantified(depth))
    return () => parts.map((part) => part()).join('')
  }

  function quantified(depth: number): () => string {
    const part = atom(depth)
    const [given, low, open, high] = /^(?:\{(\d+)(,?)(\d*)\}|[*+?])\??/.exec(source.slice(at, at + 24)) ?? []
    if (given === undefined) return part
    at += given.length
    const least = low === undefined ? (given[0] === '+' ? 1 : 0) : Number(low)
    const most =
      low === undefined
        ? given[0] === '?'
          ? 1
          : least + mostMore
        : open === ''
          ? least
          : high === '' || high === undefined
            ? least + mostMore
            : Math.min(Number(high), least + 2 * mostMore)
    if (least > mostCharacters) fail()
    return () => {
      const count = least + random.int(most - least + 1)
      let text = ''
      for (let index = 0; index < count; index++) {
        work.spend(1)
        text += part()
        if (text.length > mostCharacters) fail()
      }
      return text
    }
  }

  function atom(depth: number): () => string {
    const symbol = peek()
    at++
    if (symbol === '^' || symbol === '$') return () => ''
    if (symbol === '.') return () => words[random.int(words.length)]
    if (symbol === '[') return fromClass()
    if (symbol === '\\') return escaped()
    if (symbol !== '(') return () => symbol
    const skipped = /^\?(?:[=!]|<[=!])/.test(source.slice(at, at + 3))
    const [group] = /^\?(?::|<[A-Za-z_]\w*>)/.exec(source.slice(at, at + 80)) ?? []
    if (!skipped && group === undefined && peek() === '?') fail()
    at += skipped ? (source[at + 1] === '<' ? 3 : 2) : (group?.length ?? 0)
    const inner = choice(depth + 1)
    if (peek() !== ')') fail()
    at++
    return skipped ? () => '' : inner
  }

  function escaped(): () => string {
    const set = escapedSet()
    return set === '' ? () => '' : () => set[random.int(set.length)]
  }

  /** The characters that an escape stands for; '' for the edge of a word. */
  function escapedSet(inClass = false): string {
    const symbol = peek()
    at++
    const sets: Record<string, string> = {
      d: digits,
      w: words,
      s: ' ',
      t: '\t',
      n: '\n',
      r: '\r',
      D: letters,
      W: '-',
      S: words,
    }
    if (Object.hasOwn(sets, symbol)) return sets[symbol]
    if (/[bB]/.test(symbol) && !inClass) return ''
    if (symbol === 'u' || symbol === 'x') {
      const [code] = /^[0-9a-f]+/i.exec(source.slice(at, at + (symbol === 'u' ? 4 : 2))) ?? []
      if (code === undefined) return fail()
      at += code.length
      return String.fromCharCode(Number.parseInt(code, 16))
    }
    return /[A-Za-z0-9]/.test(symbol) || symbol === '' ? fail() : symbol
  }

  function fromClass(): () => string {
    const negated = peek() === '^'
    if (negated) at++
    let set = ''
    while (peek() !== ']') {
      if (at >= source.length) fail()
      let member = peek()
      at++
      if (member === '\\') member = escapedSet(true)
      if (member.length === 1 && peek() === '-' && source[at + 1] !== ']') {
        at++
        let end = peek()
        at++
        if (end === '\\') end = escapedSet(true)
        for (let code = member.charCodeAt(0); code <= end.charCodeAt(0) && set.length < 300; code++)
          set += String.fromCharCode(code)
      } else set += member
    }
    at++
    const usable = negated ? printable.split('').filter((symbol) => !set.includes(symbol)) : set.split('')
    if (usable.length === 0) fail()
    // Letters and digits read better than the signs that a class may allow.
    const plain = usable.filter((symbol) => /[A-Za-z0-9]/.test(symbol))
    return () => random.pick(plain.length > 0 && random.next() < 0.9 ? plain : usable)
  }

  try {
    work.spend(source.length)
    const make = choice(0)
    return at === source.length ? make() : undefined
  } catch (error) {
    if (error instanceof NotUnderstood) return undefined
    throw error
  }
}
