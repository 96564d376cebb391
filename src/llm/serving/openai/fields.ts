import { badField } from './request-error.ts'

export type Json = Readonly<Record<string, unknown>>

export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A number between the bounds, or undefined where it is left out or null. */
export function numberField(
  body: Json,
  name: string,
  {
    least = -Infinity,
    most = Infinity,
    whole = false,
  }: { least?: number; most?: number; whole?: boolean } = {},
): number | undefined {
  const value = body[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number' || value < least || value > most || (whole && !Number.isSafeInteger(value))) {
    const kind = whole ? 'a whole number' : 'a number'
    const range = `${least === -Infinity ? '' : ` of at least ${least}`}${most === Infinity ? '' : ` and at most ${most}`}`
    throw badField(name, value, `${kind}${range}`)
  }
  return value
}

export function booleanField(body: Json, name: string): boolean {
  const value = body[name]
  if (value === undefined || value === null) return false
  if (typeof value !== 'boolean') throw badField(name, value, 'true or false')
  return value
}

/** Fields that would change what comes out and are not known here: refused unless they say nothing. */
export function refuseFields(body: Json, names: readonly string[]): void {
  for (const name of names) {
    const value = body[name]
    const empty = isRecord(value) ? Object.keys(value).length === 0 : !value
    if (!empty) throw badField(name, value, 'nothing, for this server does not know the field')
  }
}
