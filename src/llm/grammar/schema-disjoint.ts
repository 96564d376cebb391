import { hasType, isRecord } from './schema-values.ts'

const typesOf = (schema: Record<string, unknown>): unknown[] | undefined =>
  schema.type === undefined ? undefined : [schema.type].flat()
const isNumber = (type: unknown): boolean => type === 'number' || type === 'integer'

function valuesOf(schema: Readonly<Record<string, unknown>>): unknown[] | undefined {
  if ('const' in schema) return [schema.const]
  return Array.isArray(schema.enum) ? schema.enum : undefined
}

/** Whether it is plain that no value fits both schemas: by their types, their constants, or those of a property that both require. */
export function areDisjoint(a: unknown, b: unknown): boolean {
  if (a === false || b === false) return true
  if (!isRecord(a) || !isRecord(b)) return false
  const [valuesOfA, valuesOfB] = [valuesOf(a), valuesOf(b)]
  if (valuesOfA !== undefined && valuesOfB !== undefined) {
    const texts = new Set(valuesOfB.map((value) => JSON.stringify(value)))
    return valuesOfA.every((value) => !texts.has(JSON.stringify(value)))
  }
  const [typesOfA, typesOfB] = [typesOf(a), typesOf(b)]
  const fitsNone = (values: readonly unknown[], types: readonly unknown[]): boolean =>
    values.every((value) => !types.some((type) => hasType(value, type)))
  if (valuesOfA !== undefined && typesOfB !== undefined && fitsNone(valuesOfA, typesOfB)) return true
  if (valuesOfB !== undefined && typesOfA !== undefined && fitsNone(valuesOfB, typesOfA)) return true
  if (typesOfA !== undefined && typesOfB !== undefined) {
    const barrier = typesOfA.some((x) => typesOfB.some((y) => x === y || (isNumber(x) && isNumber(y))))
    if (!barrier) return true
    if (typesOfA.length > 1 || typesOfB.length > 1) return false
  }
  const { properties: ofA, required: neededByA } = a
  const { properties: ofB, required: neededByB } = b
  if (!isRecord(ofA) || !isRecord(ofB) || !Array.isArray(neededByA) || !Array.isArray(neededByB)) return false
  const needed = new Set<unknown>(neededByB)
  return neededByA.some((name: string) => needed.has(name) && areDisjoint(ofA[name], ofB[name]))
}
