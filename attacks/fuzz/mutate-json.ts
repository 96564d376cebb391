import type { Random } from '../../src/engine/random/index.ts'
import { edgeNumbers, edgeTexts, edgeValue, trapNames } from './edge-values.ts'
import { mutateText } from './mutate-text.ts'

type Json = Record<string, unknown> | unknown[]

interface Place {
  holder: Json
  key: string | number
}

/** What a generator of JSON draws from. */
export interface JsonSource {
  /** Texts of valid values. */
  examples: readonly string[]
  /** Names and values of the format. */
  words: readonly string[]
}

/** The shares of inputs that are valid ones as they are, that are damaged as text afterwards, and that are nested deep. */
const untouched = 0.04
const damaged = 0.1
const nested = 0.004
const marker = 'nested here'

/** The text of a JSON value, mutated by its structure: fields and items that are changed, dropped, doubled or taken from another example. */
export function makeJson(random: Random, source: JsonSource): string {
  const text = random.pick(source.examples)
  if (random.next() < untouched) return text
  const holder: Record<string, unknown> = { root: JSON.parse(text) as unknown }
  for (let count = 1 + random.int(3); count > 0; count--) mutateOnce(random, holder, source)
  const isNested = random.next() < nested && 'root' in holder
  if (isNested) {
    const place = random.pick(placesOf(holder))
    write(place.holder, place.key, marker)
  }
  const written = JSON.stringify(holder['root']) ?? ''
  if (isNested) return written.replace(`"${marker}"`, nestedText(random))
  return random.next() < damaged ? mutateText(random, written, source) : written
}

/** Lists or objects, some or very many in one another. */
function nestedText(random: Random): string {
  const depth = random.pick([100, 300, 20_000])
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
  ])
  return `${open.repeat(depth)}1${close.repeat(depth)}`
}

/** Mutates a value in place, once. */
export function mutateOnce(random: Random, root: Record<string, unknown>, source: JsonSource): void {
  const places = placesOf(root)
  if (places.length === 0) return
  const { holder, key } = random.pick(places)
  const value = read(holder, key)
  switch (random.int(14)) {
    case 0:
    case 1:
      return write(holder, key, edgeValue(random))
    case 2:
    case 3:
      return write(holder, key, changed(random, value, source))
    case 4:
    case 5:
      return drop(holder, key)
    case 6:
      return write(holder, random.pick(trapNames), value)
    case 7:
      return write(holder, random.pick([...source.words, ...trapNames]), edgeValue(random))
    case 8: {
      const other = random.pick(places)
      const before = read(other.holder, other.key)
      if (contains(before, holder) || contains(value, other.holder)) return
      write(other.holder, other.key, value)
      return write(holder, key, before)
    }
    case 9:
    case 10:
      return write(holder, key, partOfAnother(random, source))
    case 11:
      if (Array.isArray(holder)) holder.splice(Number(key), 0, ...copies(value, 1 + random.int(5)))
      else write(holder, `${String(key)}2`, copies(value, 1)[0])
      return
    case 12:
      return write(holder, key, random.pick([[value], { a: value }, [value, value]]))
    default:
      if (typeof value !== 'object' || value === null)
        return write(holder, key, changed(random, value, source))
      return write(holder, key, Object.values(value)[0])
  }
}

/** A value of the same type, somewhat different. */
function changed(random: Random, value: unknown, source: JsonSource): unknown {
  if (typeof value === 'number')
    return random.pick([
      value + 1,
      value - 1,
      -value,
      value / 2,
      value * 1e9,
      String(value),
      random.pick(edgeNumbers),
    ])
  if (typeof value === 'string')
    return random.pick([
      value.slice(0, random.int(value.length + 1)),
      `${value}${random.pick(edgeTexts)}`,
      `${random.pick(edgeTexts)}${value}`,
      value.repeat(3),
      value.toUpperCase(),
      [value],
      Number(value) || 0,
      source.words.length > 0 ? random.pick(source.words) : value,
    ])
  if (typeof value === 'boolean') return random.pick([!value, String(value), Number(value), null])
  if (Array.isArray(value))
    return random.pick([value.toReversed(), [], value.slice(1), { 0: value[0] as unknown }])
  return edgeValue(random)
}

function partOfAnother(random: Random, { examples }: JsonSource): unknown {
  const places = placesOf({ root: JSON.parse(random.pick(examples)) as unknown })
  const { holder, key } = random.pick(places)
  return read(holder, key)
}

/** Every place of a value. */
function placesOf(root: Json): Place[] {
  const places: Place[] = []
  const open: Json[] = [root]
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    for (const key of Array.isArray(holder) ? holder.keys() : Object.keys(holder)) {
      const place = { holder, key }
      places.push(place)
      const value = read(holder, key)
      if (typeof value === 'object' && value !== null) open.push(value as Json)
    }
  }
  return places
}

const read = (holder: Json, key: string | number): unknown =>
  Object.getOwnPropertyDescriptor(holder, key)?.value as unknown

/** A field of its own, also if it is called `__proto__`. */
function write(holder: Json, key: string | number, value: unknown): void {
  if (Array.isArray(holder) && typeof key === 'string') holder.push(value)
  else Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true })
}

function drop(holder: Json, key: string | number): void {
  if (Array.isArray(holder)) holder.splice(Number(key), 1)
  else delete holder[key]
}

const copies = (value: unknown, count: number): unknown[] => {
  const text = JSON.stringify(value)
  return Array.from({ length: count }, () => (text === undefined ? value : (JSON.parse(text) as unknown)))
}

/** Whether a value is within another: to put one into the other would make a circle. */
function contains(value: unknown, wanted: unknown): boolean {
  if (value === wanted) return true
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((each) => contains(each, wanted))
}
