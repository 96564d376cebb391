import { type BoxSpace, describeSpace, hasIntegers, type Space } from './space.ts'

/** Whether a value is a member of a space. A box accepts any flat array of numbers, row-major. */
export const contains = (space: Space, value: unknown): boolean => explainMismatch(space, value) === undefined

/**
 * Explains why a value is not a member of a space, as a sentence with the given and the expected value. Returns
 * `undefined` for a member. `name` names the value in the sentence.
 */
export function explainMismatch(space: Space, value: unknown, name = 'the value'): string | undefined {
  switch (space.type) {
    case 'box':
      return explainBox(space, value, name)
    case 'discrete':
      return explainInteger(value, space.start, space.start + space.n - 1, name)
    case 'multi-discrete':
      return explainRow(
        space,
        value,
        space.counts.length,
        (entry, k) => explainInteger(entry, 0, space.counts[k] - 1, `${name}[${k}]`),
        name,
      )
    case 'multi-binary':
      return explainRow(
        space,
        value,
        space.n,
        (entry, k) => explainInteger(entry, 0, 1, `${name}[${k}]`),
        name,
      )
    case 'text':
      return explainText(space, value, name)
    case 'tuple': {
      if (!Array.isArray(value) || value.length !== space.spaces.length)
        return `${name} is ${show(value)}, expected a list of ${space.spaces.length}: ${describeSpace(space)}`
      return first(space.spaces, (part, k) => explainMismatch(part, value[k], `${name}[${k}]`))
    }
    case 'dict': {
      const names = Object.keys(space.spaces)
      if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || Array.isArray(value))
        return `${name} is ${show(value)}, expected an object: ${describeSpace(space)}`
      const given = value as Record<string, unknown>
      const missing = names.find((key) => !Object.hasOwn(given, key))
      if (missing !== undefined) return `${name} has no ${missing}, expected ${describeSpace(space)}`
      const unknown = Object.keys(given).find((key) => !Object.hasOwn(space.spaces, key))
      if (unknown !== undefined) return `${name} has ${unknown}, which is not in ${describeSpace(space)}`
      return first(names, (key) => explainMismatch(space.spaces[key], given[key], `${name}.${key}`))
    }
    case 'sequence':
      if (!Array.isArray(value)) return `${name} is ${show(value)}, expected a list: ${describeSpace(space)}`
      return first(value, (entry, k) => explainMismatch(space.space, entry, `${name}[${k}]`))
  }
}

function explainBox(space: BoxSpace, value: unknown, name: string): string | undefined {
  // A float32 entry at a bound equals the bound rounded to float32.
  const round = space.dtype === 'float32' ? Math.fround : (bound: number) => bound
  const whole = hasIntegers(space)
  return explainRow(
    space,
    value,
    space.low.length,
    (entry, k) => {
      const low = Math.min(space.low[k], round(space.low[k]))
      const high = Math.max(space.high[k], round(space.high[k]))
      if (typeof entry !== 'number' || Number.isNaN(entry))
        return `${name}[${k}] is ${show(entry)}, expected a number`
      if (entry < low) return `${name}[${k}] is ${entry}, expected at least ${low}`
      if (entry > high) return `${name}[${k}] is ${entry}, expected at most ${high}`
      return whole && !Number.isInteger(entry) ? `${name}[${k}] is ${entry}, expected an integer` : undefined
    },
    name,
  )
}

/** Checks the length of a row of numbers, then its entries. */
function explainRow(
  space: Space,
  value: unknown,
  length: number,
  explain: (entry: unknown, k: number) => string | undefined,
  name: string,
): string | undefined {
  const isArray = Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView))
  if (!isArray || (value as unknown as ArrayLike<unknown>).length !== length)
    return `${name} is ${show(value)}, expected a flat array of ${length}: ${describeSpace(space)}`
  const row = value as unknown as ArrayLike<unknown>
  for (let k = 0; k < length; k++) {
    const why = explain(row[k], k)
    if (why !== undefined) return why
  }
  return undefined
}

function explainInteger(value: unknown, low: number, high: number, name: string): string | undefined {
  if (Number.isInteger(value) && (value as number) >= low && (value as number) <= high) return undefined
  return `${name} is ${show(value)}, expected an integer from ${low} to ${high}`
}

function explainText(
  space: Extract<Space, { type: 'text' }>,
  value: unknown,
  name: string,
): string | undefined {
  if (typeof value !== 'string') return `${name} is ${show(value)}, expected ${describeSpace(space)}`
  const length = Array.from(value).length
  if (length < space.minLength || length > space.maxLength)
    return `${name} has ${length} characters, expected ${space.minLength} to ${space.maxLength}`
  const allowed = new Set(space.characters)
  const stranger = Array.from(value).find((character) => !allowed.has(character))
  return stranger === undefined
    ? undefined
    : `${name} contains ${show(stranger)}, expected characters of ${show(space.characters)}`
}

function first<T>(
  values: readonly T[],
  explain: (value: T, k: number) => string | undefined,
): string | undefined {
  for (let k = 0; k < values.length; k++) {
    const why = explain(values[k], k)
    if (why !== undefined) return why
  }
  return undefined
}

/** A short description of a value. */
function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value)
  if (ArrayBuffer.isView(value)) return `a ${value.constructor.name} of ${(value as Uint8Array).length}`
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === 'object' && value !== null)
    return `an object with ${Object.keys(value).join(', ') || 'no entries'}`
  if (typeof value === 'function') return 'a function'
  return String(value)
}
