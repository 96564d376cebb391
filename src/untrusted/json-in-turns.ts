// Long JSON, parsed in turns: `JSON.parse` takes long for a megabyte, above all for objects of one field each, and nothing else runs
// meanwhile. Where the values of a list or an object begin and end, and where a long text may be cut, is noted while they are counted;
// then they are parsed some at a time.

/** Brackets, texts, colons and commas that are parsed at once: some milliseconds, whatever they are. */
const usualAtOnce = 2048
/** Characters of a text for each of them. V8 keeps much longer texts in memory of their own, which is mapped anew for each. */
const charactersEach = 16

/** Values of a list or an object that stand side by side: some small ones, or one that is too large for one turn. */
interface Piece {
  from: number
  to: number
  large: LargePart | undefined
}

/** A list, an object or a text that is too large for one turn. */
interface LargePart {
  kind: 'list' | 'object' | 'text'
  /** Places of its brackets or quotes. */
  start: number
  end: number
  pieces: Piece[]
}

/** A list or an object whose end has not come yet. */
interface OpenPart extends LargePart {
  /** What had been counted before it. */
  counted: number
  /** Where the piece that grows begins, and what had been counted there. */
  from: number
  fromCounted: number
  /** The same for its last value. */
  last: number
  lastCounted: number
  /** Its last value, if that is large. */
  large: LargePart | undefined
}

/** Where a JSON text may be cut, as found by whoever goes through it and tells what is outside of texts. */
export interface JsonOutline {
  open(at: number, isObject: boolean): void
  close(at: number, isObject: boolean): void
  comma(at: number): void
  colon(): void
  openText(at: number): void
  closeText(at: number): void
  /** Characters of a text after which it is to be cut. */
  readonly textAtOnce: number
  /** A place in a text, in no escape, before which it may be cut. */
  cutText(at: number): void
  /** The large part that is in no other, or null if there is none. Undefined: it is no JSON, as brackets do not match. */
  end(): LargePart | null | undefined
}

/** @param atOnce brackets, texts, colons and commas that are parsed in one turn */
export function createJsonOutline(atOnce = usualAtOnce): JsonOutline {
  const root = openPart('list', -1, 0)
  const stack = [root]
  let [counted, isBroken] = [0, false]
  let text: LargePart = root
  let textFrom = 0

  /** A value of a part ends, at a comma or a bracket. */
  function endValue(part: OpenPart, to: number): void {
    const { from, last, large } = part
    const isLong = large !== undefined || counted - part.fromCounted > atOnce
    if (isLong && last > from) {
      part.pieces.push({ from, to: last - 1, large: undefined })
      part.from = last
      part.fromCounted = part.lastCounted
    }
    part.last = to + 1
    part.lastCounted = counted
    if (large === undefined) return
    part.pieces.push({ from: part.from, to, large })
    part.from = to + 1
    part.fromCounted = counted
    part.large = undefined
  }

  /** The value that comes to its end here is large. */
  function noteLarge(part: LargePart, at: number): void {
    part.end = at
    const outer = stack[stack.length - 1]
    isBroken ||= outer.large !== undefined
    outer.large = part
  }

  return {
    open(at, isObject) {
      stack.push(openPart(isObject ? 'object' : 'list', at, ++counted))
    },
    close(at, isObject) {
      const part = stack.length > 1 ? stack.pop() : undefined
      isBroken ||= part?.kind !== (isObject ? 'object' : 'list')
      if (part === undefined || counted - part.counted <= atOnce) return
      endValue(part, at)
      if (part.from <= at) part.pieces.push({ from: part.from, to: at, large: undefined })
      noteLarge(part, at)
    },
    comma(at) {
      counted++
      endValue(stack[stack.length - 1], at)
    },
    colon() {
      counted++
      const part = stack[stack.length - 1]
      // What comes before it is a name, which is not cut, and never a list or an object.
      isBroken ||= part.large !== undefined && part.large.kind !== 'text'
      part.large = undefined
    },
    openText(at) {
      counted++
      text = { kind: 'text', start: at, end: at, pieces: [] }
      textFrom = at + 1
    },
    closeText(at) {
      counted += Math.floor((at - text.start) / charactersEach)
      if (text.pieces.length === 0) return
      text.pieces.push({ from: textFrom, to: at, large: undefined })
      noteLarge(text, at)
    },
    textAtOnce: charactersEach * atOnce,
    cutText(at) {
      text.pieces.push({ from: textFrom, to: at, large: undefined })
      textFrom = at
    },
    end: () => (isBroken || stack.length > 1 || root.pieces.length > 0 ? undefined : (root.large ?? null)),
  }
}

const openPart = (kind: LargePart['kind'], start: number, counted: number): OpenPart => ({
  kind,
  start,
  end: start,
  pieces: [],
  counted,
  from: start + 1,
  fromCounted: counted,
  last: start + 1,
  lastCounted: counted,
  large: undefined,
})

/** Does short work in a turn of the event loop. */
export type InTurn = (work: () => void) => Promise<void>

/** A text as it came, in pieces. */
export interface TextInPieces {
  readonly length: number
  slice(from: number, to: number): string
}

/**
 * What `JSON.parse` makes of a text, in many turns.
 *
 * @param outline of the same text
 * @throws SyntaxError for a text that is not JSON
 */
export async function parseInTurns(
  text: TextInPieces,
  outline: JsonOutline,
  inTurn: InTurn,
): Promise<unknown> {
  const root = outline.end()
  if (root === undefined) throw new SyntaxError('brackets do not match')
  const parseText = async ({ pieces }: LargePart): Promise<string> => {
    let value = ''
    for (const { from, to } of pieces)
      await inTurn(() => (value += JSON.parse(`"${text.slice(from, to)}"`) as string))
    return value
  }
  const parsePart = async (part: LargePart): Promise<unknown> => {
    if (part.kind === 'text') return parseText(part)
    const value: unknown[] | Record<string, unknown> = part.kind === 'object' ? {} : []
    const brackets = part.kind === 'object' ? objectBrackets : listBrackets
    for (const piece of part.pieces) {
      const inner = piece.large === undefined ? undefined : await parsePart(piece.large)
      await inTurn(() => add(value, parsePiece(text, piece, brackets, inner) as object))
    }
    return value
  }
  const whole: Piece = { from: 0, to: text.length, large: root ?? undefined }
  const inner = whole.large === undefined ? undefined : await parsePart(whole.large)
  let value: unknown
  await inTurn(() => (value = parsePiece(text, whole, noBrackets, inner)))
  return value
}

const [listBrackets, objectBrackets, noBrackets] = [
  ['[', ']'] as const,
  ['{', '}'] as const,
  ['', ''] as const,
]

/** A text in place of a large value: no other token can be a part of it. */
const stand = '""'

function parsePiece(
  text: TextInPieces,
  { from, to, large }: Piece,
  [before, after]: readonly [string, string],
  inner: unknown,
): unknown {
  if (large === undefined) return JSON.parse(`${before}${text.slice(from, to)}${after}`)
  const around = `${text.slice(from, large.start)}${stand}${text.slice(large.end + 1, to)}`
  const value: unknown = JSON.parse(`${before}${around}${after}`)
  if (before === '') return inner
  for (const name of Object.keys(value as object)) setOwn(value as Record<string, unknown>, name, inner)
  return value
}

/** @throws SyntaxError if there is nothing to add: between two commas, or a comma and a bracket, has to be a value */
function add(value: unknown[] | Record<string, unknown>, some: object): void {
  const names = Object.keys(some)
  if (names.length === 0) throw new SyntaxError('a value is missing')
  if (Array.isArray(value)) for (const one of some as unknown[]) value.push(one)
  else for (const name of names) setOwn(value, name, (some as Record<string, unknown>)[name])
}

/** As `JSON.parse` does: a name such as `__proto__` is a field like others. */
function setOwn(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
  else target[name] = value
}
