/**
 * Regular expressions of untrusted schemas, matched in linear time. V8 takes exponential time for patterns such as
 * `^(a+)+$`. Here all states of an automaton advance in parallel (Thompson 1968), so a text of n characters costs at
 * most n times the size of the pattern. Lookarounds (`(?=`, `(?<!` ...) are computed for all positions at once by an
 * automaton in the other direction.
 */
export interface LinearPattern {
  /** Steps of its automata, the most that a character of a text can cost. */
  readonly size: number
  /** Whether it matches anywhere in the text, like `RegExp.prototype.test`. */
  test(text: string, work: Work): boolean
}

/** Counts steps of work on untrusted input. */
export interface Work {
  /** @throws WorkLimit if the limit is exceeded. */
  spend(steps: number): void
}

/** Thrown when untrusted input needs more steps than allowed. */
export class WorkLimit extends Error {
  constructor(limit: number) {
    super(`it takes more than ${limit} steps`)
    this.name = 'WorkLimit'
  }
}

export function limitedWork(limit: number): Work {
  let left = limit
  return {
    spend(steps) {
      left -= steps
      if (left < 0) throw new WorkLimit(limit)
    },
  }
}

/** Most steps of the automaton of one pattern, and most characters of its source. */
const mostSteps = 20_000
const mostNesting = 200
/** What a character costs besides the steps that are taken at it. */
const stepsOfPlace = 6
/** The native engine works out each class of Unicode (`\p{L}`) anew, for some 50 microseconds. */
const stepsOfProperty = 500
const mostProperties = 200
/** Limit of cached automata, in steps. */
const mostRemembered = 300_000

type IsOne = (symbol: string) => boolean

type Node =
  | { kind: 'one'; is: IsOne }
  | { kind: 'sequence' | 'choice'; parts: Node[] }
  | { kind: 'repeat'; inner: Node; least: number; most: number; lazy: boolean }
  | { kind: 'edge'; holds: (before: string | undefined, after: string | undefined) => boolean }
  | { kind: 'look'; behind: boolean; negated: boolean; inner: Node }

/** Where a step leads to several, the first is preferred by those who look for one match. */
export type Step =
  | { kind: 'match' }
  | { kind: 'one'; is: IsOne; next: number }
  | { kind: 'split'; next: number[] }
  | { kind: 'edge'; holds: (before: string | undefined, after: string | undefined) => boolean; next: number }
  /** `look` is the number of what is found for all places beforehand. */
  | { kind: 'look'; look: number; negated: boolean; next: number }

export interface Program {
  steps: Step[]
  start: number
  forwards: boolean
}

class Unsupported extends Error {
  /** Steps that were made before it was found. */
  steps = 0
}

/** A pattern that cannot be matched, and the steps that it took to find out. */
export interface UnusablePattern {
  readonly unusable: string
  readonly size: number
}

const remembered = new Map<string, LinearPattern | UnusablePattern>()
let rememberedSteps = 0

const propertiesOf = (source: string): number => source.match(/\\p\{/gi)?.length ?? 0

/** Steps that it takes to read a pattern, besides those of its automaton. */
export const readingSteps = (source: string): number => source.length + stepsOfProperty * propertiesOf(source)

/**
 * Compiles an ECMAScript pattern, with the flag `u` if it parses with it: many real patterns contain escapes that this
 * flag forbids. Supports everything except backreferences.
 *
 * @returns `unusable` with the reason in a few words, if the pattern is invalid or cannot be matched in linear time.
 */
export function readPattern(source: string): LinearPattern | UnusablePattern {
  if (source.length > mostSteps)
    return { unusable: `the pattern has more than ${mostSteps} characters`, size: 0 }
  if (propertiesOf(source) > mostProperties)
    return { unusable: `the pattern has more than ${mostProperties} classes of Unicode`, size: 0 }
  const known = remembered.get(source)
  if (known !== undefined) return known
  const pattern = compile(source)
  const size = source.length + pattern.size
  if (rememberedSteps + size > mostRemembered) {
    remembered.clear()
    rememberedSteps = 0
  }
  remembered.set(source, pattern)
  rememberedSteps += size
  return pattern
}

function compile(source: string): LinearPattern | UnusablePattern {
  const read = automataOf(source)
  if ('unusable' in read) return read
  const { programs, split, size } = read
  return { size, test: (text, work) => test(programs, split, text, work) }
}

/** The automata of a pattern: those of its lookarounds, innermost first, and its own. */
export interface Automata {
  programs: readonly Program[]
  /** The symbols of a text, as the pattern reads them. */
  split: (text: string) => string[]
  size: number
}

export function automataOf(source: string): Automata | UnusablePattern {
  // Constructing a RegExp only parses the pattern; it matches no text.
  const flags = ['u', ''].find((given) => isRegExp(source, given))
  if (flags === undefined) return { unusable: 'the pattern is no regular expression', size: 0 }
  const split = flags === 'u' ? (text: string) => Array.from(text) : (text: string) => text.split('')
  try {
    const programs = programsOf(parse(split(source), flags))
    return { programs, split, size: programs.reduce((sum, { steps }) => sum + steps.length, 0) }
  } catch (error) {
    if (!(error instanceof Unsupported)) throw error
    return { unusable: error.message, size: error.steps }
  }
}

function isRegExp(source: string, flags: string): boolean {
  try {
    return new RegExp(source, flags).flags === flags
  } catch {
    return false
  }
}

/** The native engine matches single characters, in bounded time. */
function oneOf(source: string, flags: string): IsOne {
  const regex = new RegExp(`^${source}$`, flags)
  const ascii = new Uint8Array(128)
  return (symbol) => {
    const code = symbol.length === 1 ? symbol.charCodeAt(0) : 128
    if (code >= 128) return regex.test(symbol)
    ascii[code] ||= regex.test(symbol) ? 1 : 2
    return ascii[code] === 1
  }
}

const isWord: IsOne = (symbol) => /^\w$/.test(symbol)

/** The syntax tree of a pattern that the native engine accepts. */
function parse(symbols: readonly string[], flags: string): Node {
  const classes = new Map<string, IsOne>()
  let at = 0
  let depth = 0

  function alternatives(): Node {
    if (++depth > mostNesting) throw new Unsupported(`the pattern is nested more than ${mostNesting} deep`)
    const parts: Node[] = [{ kind: 'sequence', parts: [] }]
    while (at < symbols.length && symbols[at] !== ')') {
      const last = parts.at(-1) as { parts: Node[] }
      if (symbols[at] === '|') {
        at++
        parts.push({ kind: 'sequence', parts: [] })
      } else last.parts.push(quantified(atom()))
    }
    depth--
    return parts.length === 1 ? parts[0] : { kind: 'choice', parts }
  }

  const upcoming = (pattern: RegExp, length = 40): RegExpExecArray | null =>
    pattern.exec(symbols.slice(at, at + length).join(''))

  function quantified(inner: Node): Node {
    const sign = symbols[at]
    const bounds: Record<string, [number, number]> = { '*': [0, Infinity], '+': [1, Infinity], '?': [0, 1] }
    let [least, most] = bounds[sign] ?? []
    if (least !== undefined) at++
    else if (sign === '{') {
      let end = at + 1
      // Only as far as a count goes: braces that are none would be searched through again and again.
      while (end < symbols.length && /[\d,]/.test(symbols[end])) end++
      const braces = upcoming(/^\{(\d+)(,(\d*))?\}/, end + 1 - at)
      if (braces === null) return inner
      at = end + 1
      least = Number(braces[1])
      most = braces[2] === undefined ? least : braces[3] === '' ? Infinity : Number(braces[3])
    }
    if (least === undefined || most === undefined) return inner
    // Laziness does not affect whether it matches.
    const lazy = symbols[at] === '?'
    if (lazy) at++
    return { kind: 'repeat', inner, least, most, lazy }
  }

  function atom(): Node {
    const symbol = symbols[at++]
    if (symbol === '(') return group()
    if (symbol === '^') return { kind: 'edge', holds: (before) => before === undefined }
    if (symbol === '$') return { kind: 'edge', holds: (_, after) => after === undefined }
    if (symbol === '.') return native('.')
    if (symbol === '[') return native(`[${bracketed()}`)
    if (symbol === '\\') return escape()
    return { kind: 'one', is: (given) => given === symbol }
  }

  function native(source: string): Node {
    const is = classes.get(source) ?? oneOf(source, flags)
    classes.set(source, is)
    return { kind: 'one', is }
  }

  function bracketed(): string {
    const from = at
    while (symbols[at] !== ']') at += symbols[at] === '\\' ? 2 : 1
    return symbols.slice(from, ++at).join('')
  }

  function group(): Node {
    const look = upcoming(/^\?(<?)([=!])/)
    if (look !== null) at += look[0].length
    else if (upcoming(/^\?:/) !== null) at += 2
    else if (upcoming(/^\?</) !== null) at = symbols.indexOf('>', at) + 1
    else if (symbols[at] === '?') throw new Unsupported('the pattern changes its flags inside')
    const inner = alternatives()
    at++
    return look === null ? inner : { kind: 'look', behind: look[1] === '<', negated: look[2] === '!', inner }
  }

  function escape(): Node {
    const symbol = symbols[at]
    if (symbol === 'b' || symbol === 'B') {
      at++
      const inside = symbol === 'B'
      const word = (given: string | undefined): boolean => given !== undefined && isWord(given)
      return { kind: 'edge', holds: (before, after) => (word(before) === word(after)) === inside }
    }
    if (/[1-9k]/.test(symbol)) throw new Unsupported('the pattern refers to a group of its own')
    if (upcoming(/^(?:0\d|c(?![A-Za-z]))/) !== null)
      throw new Unsupported('the pattern has an escape of old that cannot be read')
    const whole =
      flags === 'u'
        ? /^(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u\{[^}]*\}|[pP]\{[^}]*\})/
        : /^$/
    const short = String.raw`^(?:u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|[^])`
    const known = upcoming(whole, 100) ?? upcoming(new RegExp(short, flags))
    const source = known?.[0] ?? ''
    // Without the flag `u` a symbol is half of a character of two halves.
    at += flags === 'u' ? Array.from(source).length : source.length
    return native(`\\${source}`)
  }

  return alternatives()
}

/** Automata for all lookarounds, innermost first, followed by the one for the whole pattern. */
function programsOf(root: Node): Program[] {
  const programs: Program[] = []
  let size = 0

  function program(node: Node, forwards: boolean): Program {
    const steps: Step[] = []
    const push = (step: Step): number => {
      if (++size > mostSteps)
        throw Object.assign(new Unsupported(`the pattern has more than ${mostSteps} steps`), { steps: size })
      return steps.push(step) - 1
    }

    /** Adds the states that match the node and continue with step `next`; returns the first step. */
    function emit(part: Node, next: number): number {
      switch (part.kind) {
        case 'one':
          return push({ kind: 'one', is: part.is, next })
        case 'edge':
          return push({ kind: 'edge', holds: part.holds, next })
        case 'sequence':
          return (forwards ? part.parts.toReversed() : part.parts).reduce(
            (then, one) => emit(one, then),
            next,
          )
        case 'choice':
          return push({ kind: 'split', next: part.parts.map((one) => emit(one, next)) })
        case 'look': {
          programs.push(program(part.inner, part.behind))
          return push({ kind: 'look', look: programs.length - 1, negated: part.negated, next })
        }
        case 'repeat':
          return emitRepeat(part, next)
      }
    }

    function emitRepeat(
      { inner, least, most, lazy }: Extract<Node, { kind: 'repeat' }>,
      next: number,
    ): number {
      const inOrder = (again: number): number[] => (lazy ? [next, again] : [again, next])
      let start = next
      if (most === Infinity) {
        const loop: Extract<Step, { kind: 'split' }> = { kind: 'split', next: [] }
        start = push(loop)
        loop.next = inOrder(emit(inner, start))
      }
      const extra = most === Infinity ? 0 : most - least
      for (let i = 0; i < extra; i++) {
        const once = emit(inner, start)
        if (once === start) break
        start = push({ kind: 'split', next: inOrder(once) })
      }
      for (let i = 0; i < least; i++) {
        const once = emit(inner, start)
        // Repeating an empty match changes nothing.
        if (once === start) break
        start = once
      }
      return start
    }

    const start = emit(node, push({ kind: 'match' }))
    return { steps, start, forwards }
  }

  const whole = program(root, true)
  return [...programs, whole]
}

function test(
  programs: readonly Program[],
  split: (text: string) => string[],
  text: string,
  work: Work,
): boolean {
  work.spend(text.length)
  const symbols = split(text)
  const looks: Uint8Array[] = []
  for (const program of programs.slice(0, -1)) looks.push(places(program, symbols, looks, work, false))
  return places(programs[programs.length - 1], symbols, looks, work, true).includes(1)
}

/** The positions (0 to the text's length) at which a match ends that began anywhere; with `first` only the first one. */
export function places(
  { steps, start, forwards }: Program,
  symbols: readonly string[],
  looks: readonly Uint8Array[],
  work: Work,
  first: boolean,
): Uint8Array {
  const found = new Uint8Array(symbols.length + 1)
  /** The last position at which a step was reached, counted from 1. */
  const reached = new Int32Array(steps.length)
  /** The steps to go on from at this place, and at the next. Both are empty in turns, and used again. */
  let open: number[] = []
  let from: number[] = []
  for (let i = 0; i <= symbols.length; i++) {
    const place = forwards ? i : symbols.length - i
    ;[open, from] = [from, open]
    open.push(start)
    let count = stepsOfPlace
    const read = symbols[forwards ? place : place - 1]
    while (open.length > 0) {
      const at = open.pop() as number
      if (reached[at] === i + 1) continue
      reached[at] = i + 1
      count++
      const step = steps[at]
      if (step.kind === 'match') found[place] = 1
      else if (step.kind === 'one') {
        if (read !== undefined && step.is(read)) from.push(step.next)
      } else if (step.kind === 'split') {
        count += step.next.length
        open.push(...step.next)
      } else if (step.kind === 'edge') {
        if (step.holds(symbols[place - 1], symbols[place])) open.push(step.next)
      } else if ((looks[step.look][place] === 1) !== step.negated) open.push(step.next)
    }
    work.spend(count)
    if (first && found[place] === 1) return found
  }
  return found
}
