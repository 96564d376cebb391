// Long JSON, parsed in turns: a megabyte of objects of one field each takes JSON.parse 40 ms and more, and nothing else runs meanwhile.
// Where the values of a list or an object begin and end is noted while its bytes are counted; then they are parsed some at a time.

/** Brackets, texts, colons and commas that are parsed at once: some milliseconds, whatever they are. */
const usualAtOnce = 2048

/** A list or an object that is too large for one turn. */
interface LargePart {
  isObject: boolean
  /** Places of its brackets. */
  start: number
  end: number
  /** Places of the commas between its values, and how much had been counted at each. */
  commas: number[]
  counts: number[]
  counted: number
  /** Those of its values that are too large themselves, by their places. */
  large: LargePart[]
}

/** Where a JSON text may be cut, as found by whoever goes through its bytes and tells what is outside of texts. */
export interface JsonOutline {
  open(at: number, isObject: boolean): void
  close(at: number, isObject: boolean): void
  comma(at: number): void
  /** A text or a colon. */
  count(): void
  /** The large parts that are in no other. Undefined: brackets do not match, so it is no JSON. */
  end(): readonly LargePart[] | undefined
  readonly atOnce: number
}

/** @param atOnce brackets, texts, colons and commas that are parsed in one turn */
export function createJsonOutline(atOnce = usualAtOnce): JsonOutline {
  const root: LargePart = emptyPart(false, 0, 0)
  const stack = [root]
  let [counted, isBroken] = [0, false]
  return {
    open(at, isObject) {
      stack.push(emptyPart(isObject, at, ++counted))
    },
    close(at, isObject) {
      const part = stack.length > 1 ? stack.pop() : undefined
      isBroken ||= part?.isObject !== isObject
      if (part === undefined || counted - part.counted <= atOnce) return
      part.end = at
      part.counts.push(counted)
      stack[stack.length - 1].large.push(part)
    },
    comma(at) {
      const part = stack[stack.length - 1]
      part.commas.push(at)
      part.counts.push(++counted)
    },
    count() {
      counted++
    },
    atOnce,
    end: () => (isBroken || stack.length > 1 ? undefined : root.large),
  }
}

const emptyPart = (isObject: boolean, start: number, counted: number): LargePart => ({
  isObject,
  start,
  end: start,
  commas: [],
  counts: [],
  counted,
  large: [],
})

/** Does short work in a turn of the event loop. */
export type InTurn = (work: () => void) => Promise<void>

/**
 * What `JSON.parse` makes of a text, in many turns. Bytes that are no UTF-8 become U+FFFD.
 *
 * @param outline of the same bytes
 * @throws SyntaxError for a text that is not JSON
 */
export async function parseInTurns(
  bytes: Uint8Array,
  outline: JsonOutline,
  inTurn: InTurn,
): Promise<unknown> {
  const large = outline.end()
  if (large === undefined) throw new SyntaxError('brackets do not match')
  if (large.length > 1) throw new SyntaxError('more than one value')
  const parsePart = async (part: LargePart): Promise<unknown> => {
    const value: unknown[] | Record<string, unknown> = part.isObject ? {} : []
    const brackets = part.isObject ? objectBrackets : listBrackets
    for (const piece of piecesOf(part, outline.atOnce)) {
      const inner = piece.large === undefined ? undefined : await parsePart(piece.large)
      await inTurn(() => add(value, parsePiece(bytes, piece, brackets, inner) as object))
    }
    return value
  }
  const whole: Piece = { from: hasMark(bytes) ? 3 : 0, to: bytes.length, large: large[0] }
  const inner = whole.large === undefined ? undefined : await parsePart(whole.large)
  let value: unknown
  await inTurn(() => (value = parsePiece(bytes, whole, noBrackets, inner)))
  return value
}

const [listBrackets, objectBrackets, noBrackets] = [
  ['[', ']'] as const,
  ['{', '}'] as const,
  ['', ''] as const,
]

/** Values of a list or an object that stand side by side: some small ones, or one large one. */
interface Piece {
  from: number
  to: number
  large: LargePart | undefined
}

function piecesOf({ start, end, commas, counts, counted, large }: LargePart, atOnce: number): Piece[] {
  const pieces: Piece[] = []
  let [from, before, next] = [start + 1, counted, 0]
  const ends = [...commas, end]
  for (const [i, to] of ends.entries()) {
    const part = next < large.length && large[next].start < to ? large[next++] : undefined
    const last = pieces.at(-1)
    if (part !== undefined || last === undefined || last.large !== undefined || counts[i] - before > atOnce) {
      pieces.push({ from, to, large: part })
      before = i === 0 ? counted : counts[i - 1]
    } else last.to = to
    from = to + 1
  }
  return pieces
}

/** A text in place of a large value: no other token can be a part of it. */
const stand = '""'

function parsePiece(
  bytes: Uint8Array,
  { from, to, large }: Piece,
  [before, after]: readonly [string, string],
  inner: unknown,
): unknown {
  const text = (start: number, end: number): string => decoder.decode(bytes.subarray(start, end))
  if (large === undefined) return JSON.parse(`${before}${text(from, to)}${after}`)
  const around = `${text(from, large.start)}${stand}${text(large.end + 1, to)}`
  const value: unknown = JSON.parse(`${before}${around}${after}`)
  if (before === '') return inner
  for (const name of Object.keys(value as object)) setOwn(value as Record<string, unknown>, name, inner)
  return value
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

const hasMark = ([first, second, third]: Uint8Array): boolean =>
  first === 0xef && second === 0xbb && third === 0xbf

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
