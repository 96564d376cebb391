import { setTimeout as wait } from 'node:timers/promises'
import { InfrastructureError } from '../../../tool/tool.ts'
import type { AdmittedTool } from '../safety.ts'
import { isPlainObject, parseJson } from '../salient.ts'
import { requiredOf } from '../arguments/schema-parts.ts'
import { newState, type StateCall } from '../server/state-pool.ts'
import type { ToolSystem } from '../tool-system.ts'

function canonical(value: unknown, ignore: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => canonical(item, ignore))
    // A list of records is compared as a set, because the order of creation is not part of the state. A list of plain
    // values stays a list.
    if (!items.some(isPlainObject)) return items
    return items.map((item) => JSON.stringify(item)).sort()
  }
  if (!isPlainObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .filter((key) => !ignore.has(key))
      .sort()
      .map((key) => [key, canonical(value[key], ignore)]),
  )
}

/**
 * Normalises one observation for comparison: JSON with sorted keys, sorted lists of records and without the ignored
 * properties (ids, times); other text with collapsed white space.
 */
export function normaliseObservation(text: string, ignore: readonly string[] = []): string {
  const json = parseJson(text)
  if (json === undefined) return text.trim().replace(/\s+/g, ' ')
  return JSON.stringify(canonical(json, new Set(ignore)))
}

/** Reason given for a tool that answers differently although nothing has changed. */
export const answersOtherwise = 'the same call gives another result when repeated'

/** Clocks tick once a second. A shorter wait would not reveal them. */
const tick = 1200

export async function clockTick(since: number, signal?: AbortSignal): Promise<void> {
  const left = Math.max(0, tick - (performance.now() - since))
  await wait(left, undefined, signal === undefined ? {} : { signal })
}

/** Returns the call of a tool without required arguments; undefined for any other tool. */
export function plainCall({ spec }: AdmittedTool): StateCall | undefined {
  return requiredOf(spec.inputSchema).length === 0 ? { name: spec.name, arguments: {} } : undefined
}

/** A call's result in the initial state. */
export interface Sight {
  call: StateCall
  text: string
  /** When it was seen, in milliseconds of this process. */
  at: number
}

interface SightLimits {
  signal?: AbortSignal | undefined
  seconds: number
}

/** The whole results of reading calls, each made in an initial state, without failures and those that tell the time. */
export async function initialSights(
  system: ToolSystem,
  calls: readonly StateCall[],
  limits: SightLimits,
): Promise<Sight[]> {
  const sights: Sight[] = []
  for (const call of calls) {
    try {
      const { isError, text } = await system.look(newState(), call.name, call.arguments, limits)
      if (!isError && !tellsTime(text, '')) sights.push({ call, text, at: performance.now() })
    } catch (error) {
      if (!(error instanceof InfrastructureError)) throw error
    }
  }
  return sights
}

/** Those that are shown again a second later, so without clocks and random values. Restart the system before it. */
export async function shownAgain(
  system: ToolSystem,
  sights: readonly Sight[],
  limits: SightLimits,
): Promise<Sight[]> {
  if (sights.length === 0) return []
  await clockTick(Math.max(...sights.map(({ at }) => at)), limits.signal)
  const calls = sights.map(({ call }) => call)
  const again = new Map((await initialSights(system, calls, limits)).map(({ call, text }) => [call, text]))
  return sights.filter(({ call, text }) => again.get(call) === text)
}

/** The results of reading calls that a newly started server repeats. */
export async function repeatableSights(
  system: ToolSystem,
  calls: readonly StateCall[],
  limits: SightLimits,
): Promise<Sight[]> {
  const sights = await initialSights(system, calls, limits)
  await system.restart()
  return shownAgain(system, sights, limits)
}

/** The lines of a text that do not tell the time. The whole text if all do, or if it is JSON. */
export function timelessLines(text: string, given: string): string {
  if (parseJson(text) !== undefined) return text
  const stamps = timeStamps()
  const lines = text.split('\n').filter((line) => !tellsTime(line, given, stamps))
  return lines.length === 0 ? text : lines.join('\n')
}

/** Today's date and the current hour and minute, as they are written. */
function timeStamps(): string[] {
  const now = new Date()
  const [year, month, date] = now.toISOString().slice(0, 10).split('-')
  const stamps = [
    `${year}-${month}-${date}`,
    `${year}/${month}/${date}`,
    `${month}/${date}/${year}`,
    `${month}/${date}/${year.slice(2)}`,
    now.toLocaleDateString('en-US'),
  ]
  for (const minutes of [0, -1]) {
    const then = new Date(now.getTime() + minutes * 60_000)
    const minute = String(then.getMinutes()).padStart(2, '0')
    stamps.push(
      `${String(then.getHours()).padStart(2, '0')}:${minute}`,
      `${then.getHours() % 12 || 12}:${minute}`,
    )
  }
  return stamps
}

/** Whether a result contains today's date or the current hour and minute, apart from repeating its arguments. */
export function tellsTime(text: string, given: string, stamps: readonly string[] = timeStamps()): boolean {
  // All of them have digits, and most lines have none.
  if (!/\d/.test(text)) return false
  return tellsMoment(text, given) || stamps.some((stamp) => text.includes(stamp) && !given.includes(stamp))
}

/**
 * Whether a result contains the current minute with its date, or the seconds or milliseconds since 1970. Nothing else
 * matches these by chance.
 */
export function tellsMoment(text: string, given: string): boolean {
  const now = Date.now()
  const iso = new Date(now).toISOString()
  const stamps = [iso.slice(0, 16), iso.slice(0, 16).replace('T', ' ')]
  for (const [digits] of text.matchAll(/(?<!\d)(?:\d{13}|\d{10})(?!\d)/g)) {
    const milliseconds = Number(digits) * (digits.length === 13 ? 1 : 1000)
    if (Math.abs(milliseconds - now) < 60_000) stamps.push(digits)
  }
  return stamps.some((stamp) => text.includes(stamp) && !given.includes(stamp))
}
