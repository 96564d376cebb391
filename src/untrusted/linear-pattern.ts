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

/** Most steps of the automaton of one pattern. */
const mostSteps = 20_000
const mostNesting = 200
/** Limit of cached automata, in steps. */
const mostRemembered = 300_000

type IsOne = (symbol: string) => boolean

type Node =
  | { kind: 'one'; is: IsOne }
  | { kind: 'sequence' | 'choice'; parts: Node[] }
  | { kind: 'repeat'; inner: Node; least: number; most: number }
  | { kind: 'edge'; holds: (before: string | undefined, after: string | undefined) => boolean }
  | { kind: 'look'; behind: boolean; negated: boolean; inner: Node }

type Step =
  | { kind: 'match' }
  | { kind: 'one'; is: IsOne; next: number }
  | { kind: 'split'; next: number[] }
  | { kind: 'edge'; holds: (before: string | undefined, after: string | undefined) => boolean; next: number }
  /** `look` is the number of what is found for all places beforehand. */
  | { kind: 'look'; look: number; negated: boolean; next: number }

interface Program {
  steps: Step[]
  start: number
  forwards: boolean
}

class Unsupported extends Error {}

const remembered = new Map<string, LinearPattern | { unusable: string }>()
let rememberedSteps = 0

/**
 * Compiles an ECMAScript pattern, with the flag `u` if it parses with it: many real patterns contain escapes that this
 * flag forbids. Supports everything except backreferences.
 *
 * @returns `unusable` with the reason in a few words, if the pattern is invalid or cannot be matched in linear time.
 */
export function readPattern(source: string): LinearPattern | { unusable: string } {
  const known = remembered.get(source)
  if (known !== undefined) return known
  const pattern = compile(source)
  const size = source.length + ('size' in pattern ? pattern.size : 0)
  if (rememberedSteps + size > mostRemembered) {
    remembered.clear()
    rememberedSteps = 0
  }
  remembered.set(source, pattern)
  rememberedSteps += size
  return pattern
}

function compile(source: string): LinearPattern | { unusable: string } {
  // Constructing a RegExp only parses the pattern; it matches no text.
  const flags = ['u', ''].find((given) => isRegExp(source, given))
  if (flags === undefined) return { unusable: 'the pattern is no regular expression' }
  const split = flags === 'u' ? (text: string) => Array.from(text) : (text: string) => text.split('')
  try {
    const programs = programsOf(parse(split(source), flags))
    const size = programs.reduce((sum, { steps }) => sum + steps.length, 0)
    return { size, test: (text, work) => test(programs, split, text, work) }
  } catch (error) {
    if (!(error instanceof Unsupported)) throw error
    return { unusable: error.message }
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
      const length = symbols.indexOf('}', at) + 1 - at
      const braces = upcoming(/^\{(\d+)(,(\d*))?\}/, length)
      if (braces === null) return inner
      at += length
      least = Number(braces[1])
      most = braces[2] === undefined ? least : braces[3] === '' ? Infinity : Number(braces[3])
    }
    if (least === undefined || most === undefined) return inner
    // Laziness does not affect what matches.
    if (symbols[at] === '?') at++
    return { kind: 'repeat', inner, least, most }
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
    const known = upcoming(whole, 100) ?? upcoming(/^(?:u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|[^])/u)
    const source = known?.[0] ?? ''
    at += Array.from(source).length
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
      if (++size > mostSteps) throw new Unsupported(`the pattern has more than ${mostSteps} steps`)
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
          return emitRepeat(part.inner, part.least, part.most, next)
      }
    }

    function emitRepeat(inner: Node, least: number, most: number, next: number): number {
      let start = next
      if (most === Infinity) {
        const loop: Extract<Step, { kind: 'split' }> = { kind: 'split', next: [next] }
        start = push(loop)
        loop.next.push(emit(inner, start))
      }
      const extra = most === Infinity ? 0 : most - least
      for (let i = 0; i < extra; i++) {
        const once = emit(inner, start)
        if (once === start) break
        start = push({ kind: 'split', next: [once, next] })
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
function places(
  { steps, start, forwards }: Program,
  symbols: readonly string[],
  looks: readonly Uint8Array[],
  work: Work,
  first: boolean,
): Uint8Array {
  const found = new Uint8Array(symbols.length + 1)
  /** The last position at which a step was reached, counted from 1. */
  const reached = new Int32Array(steps.length)
  let from: number[] = []
  for (let i = 0; i <= symbols.length; i++) {
    const place = forwards ? i : symbols.length - i
    const open = [...from, start]
    from = []
    let count = 0
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
