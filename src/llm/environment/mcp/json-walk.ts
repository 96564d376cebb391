export type PlainObject = Record<string, unknown>

export function isPlainObject(value: unknown): value is PlainObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value as JSON if the text is a JSON object or array, else undefined. */
export function parseJson(text: string): unknown {
  const first = text.trimStart()[0]
  if (first !== '{' && first !== '[') return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Every object inside a value, outermost first. */
export function objectsIn(value: unknown): PlainObject[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn)
  if (!isPlainObject(value)) return []
  return [value, ...Object.values(value).flatMap(objectsIn)]
}

export interface Leaf {
  /** Name of the closestName property above the value. */
  key: string
  path: readonly (string | number)[]
  value: string | number | boolean
}

/** Every string, number and boolean inside a value, in order. */
export function leavesOf(value: unknown, path: readonly (string | number)[] = [], key = ''): Leaf[] {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return [{ key, path, value }]
  }
  if (Array.isArray(value)) return value.flatMap((item, index) => leavesOf(item, [...path, index], key))
  if (!isPlainObject(value)) return []
  return Object.entries(value).flatMap(([name, item]) => leavesOf(item, [...path, name], name))
}

/** The value at a path, undefined where the path ends early. */
export function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  let current = value
  for (const step of path) {
    if (Array.isArray(current) && typeof step === 'number') current = current[step]
    else if (isPlainObject(current) && Object.hasOwn(current, step)) current = current[step]
    else return undefined
  }
  return current
}
