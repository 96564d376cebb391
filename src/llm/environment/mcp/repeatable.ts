import { setTimeout as wait } from 'node:timers/promises'
import { InfrastructureError } from '../../tool/tool.ts'
import type { AdmittedTool } from './safety.ts'
import { isPlainObject, parseJson } from './salient.ts'
import { requiredOf } from './sample-arguments.ts'
import { newState, type StateCall } from './state-pool.ts'
import type { ToolSystem } from './tool-system.ts'

function canonical(value: unknown, ignore: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => canonical(item, ignore))
    // A list of records is a set: who made which first is not part of the state. A list of plain values is a list.
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
 * One observation in a form that can be compared: JSON with sorted keys, lists of records in sorted order and the
 * ignored properties (ids, times) left out; other text with its white space collapsed.
 */
export function normaliseObservation(text: string, ignore: readonly string[] = []): string {
  const json = parseJson(text)
  if (json === undefined) return text.trim().replace(/\s+/g, ' ')
  return JSON.stringify(canonical(json, new Set(ignore)))
}

/** The reason for a tool that answers otherwise without anything having changed. */
export const answersOtherwise = 'the same call gives another result when repeated'

/** Clocks tick once a second: repeating sooner would not show them. */
const tick = 1200

export async function clockTick(since: number, signal?: AbortSignal): Promise<void> {
  const left = Math.max(0, tick - (performance.now() - since))
  await wait(left, undefined, signal === undefined ? {} : { signal })
}

/** The call of a tool that requires no arguments; undefined for any other tool. */
export function plainCall({ spec }: AdmittedTool): StateCall | undefined {
  return requiredOf(spec.inputSchema).length === 0 ? { name: spec.name, arguments: {} } : undefined
}

/** What a call answered in a state that nothing was done to. */
export interface Sight {
  call: StateCall
  text: string
}

/**
 * The whole results of calls that read, each in an untouched state: those that a newly started server gives once more after a second. Clocks,
 * random values and what failed are left out, so that the same server always shows the same.
 */
export async function repeatableSights(
  system: ToolSystem,
  calls: readonly StateCall[],
  limits: { signal?: AbortSignal | undefined; seconds: number },
): Promise<Sight[]> {
  if (calls.length === 0) return []
  const look = async (): Promise<(string | undefined)[]> => {
    const texts: (string | undefined)[] = []
    for (const { name, arguments: args } of calls) {
      try {
        const result = await system.look(newState(), name, args, limits)
        texts.push(result.isError ? undefined : result.text)
      } catch (error) {
        if (!(error instanceof InfrastructureError)) throw error
        texts.push(undefined)
      }
    }
    return texts
  }
  const began = performance.now()
  const first = await look()
  await system.restart()
  await clockTick(began, limits.signal)
  const second = await look()
  return calls.flatMap((call, index) => {
    const text = first[index]
    return text !== undefined && text === second[index] && !tellsTime(text, '') ? [{ call, text }] : []
  })
}

/** Does a result name today's date or the present hour and minute, other than by repeating its arguments? */
export function tellsTime(text: string, given: string): boolean {
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
  return tellsMoment(text, given) || stamps.some((stamp) => text.includes(stamp) && !given.includes(stamp))
}

/** Does a result name the present minute together with its date, or the seconds or milliseconds since 1970? Nothing else does so by chance. */
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
