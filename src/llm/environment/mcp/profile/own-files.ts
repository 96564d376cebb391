import { filesObserver } from '../environment-config.ts'
import { isPlainObject, parseJson, type PlainObject } from '../salient.ts'
import type { Observer } from '../tool-system.ts'
import { observerKey } from './observers.ts'
import { soundsReading } from './tool-verbs.ts'
import type { Tried } from './tried.ts'

// Files that a server writes for itself, such as logs and copies of its results. They are no part of the state that tasks
// are about.

/** A path without its numbers: `page-2026-11-24T10-07.yml` and the next one are of one kind, `page-#-#-#T#-#.yml`. */
export function kindOfPath(path: string): string {
  return path.replaceAll(/\d+/g, '#')
}

/** Whether a path has the present day and time in it, or the seconds or milliseconds since 1970. */
export function namesMoment(path: string, now = Date.now()): boolean {
  const day = 86_400_000
  const written = [...path.matchAll(/(\d{4})-?(\d\d)-?(\d\d)[T_-]?(\d\d)[:.-]?(\d\d)/g)].map(
    ([, year, month, date, hour, minute]) => Date.parse(`${year}-${month}-${date}T${hour}:${minute}Z`),
  )
  const counted = [...path.matchAll(/(?<!\d)(\d{10})(\d{3})?(?!\d)/g)].map(
    ([, seconds]) => Number(seconds) * 1000,
  )
  return [...written, ...counted].some((moment) => Math.abs(moment - now) < day)
}

/** The paths under which two looks at the files differ. */
export function changedPaths(before: string, after: string): string[] {
  const [old, now] = [before, after].map(filesIn)
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].filter(
    (path) => JSON.stringify(old[path]) !== JSON.stringify(now[path]),
  )
}

const filesIn = (text: string): PlainObject => Object(parseJson(text)) as PlainObject

/**
 * The files that a call of a tool which is marked as only reading made, if the same call again changed nothing: the server
 * makes them when it is first used.
 */
export function madeOnce(before: string, after: string, later: string): string[] {
  if (changedPaths(after, later).length > 0) return []
  const [old, now] = [before, after].map(filesIn)
  return changedPaths(before, after).filter((path) => !(path in old) && now[path] !== null)
}

/** Tools that must each make a file of a kind before it counts as the server's own. */
const fewestTools = 3

/**
 * The kinds of files that are named by the time of the call which made them, if three different tools make them, or one
 * that is marked as only reading. They count the calls.
 */
export function filesOfMoments(entries: readonly Tried[]): string[] {
  const makers = new Map<string, Tried[]>()
  for (const entry of entries)
    for (const kind of new Set([...entry.paths].filter((path) => namesMoment(path)).map(kindOfPath)))
      makers.set(kind, [...(makers.get(kind) ?? []), entry])
  return [...makers].flatMap(([kind, by]) =>
    by.length >= fewestTools || by.some(({ tool }) => tool.kind === 'read') ? [kind] : [],
  )
}

/** A file that nearly every tool changes, those that read too, is a log and not a part of the state. */
export function changedByAll(entries: readonly Tried[]): string[] {
  const used = entries.filter(({ succeeded }) => succeeded > 0)
  const paths = new Set(used.flatMap((entry) => [...entry.paths]))
  return [...paths].filter((path) => {
    const by = used.filter((entry) => entry.paths.has(path))
    const reads = by.some(({ tool }) => tool.kind === 'read' || soundsReading(tool.spec.name))
    return reads && by.length >= 3 && by.length >= 0.8 * used.length
  })
}

/**
 * From now on leaves these paths, or kinds of paths, out of what the files show, and out of what the tools were seen to
 * change. Returns whether any of them is new.
 */
export function exceptFiles(
  entries: readonly Tried[],
  witnesses: Observer[],
  paths: readonly string[],
): boolean {
  const at = witnesses.findIndex(({ name }) => name === filesObserver)
  if (at < 0) return false
  const known = exceptionsOf(witnesses[at])
  const except = [...new Set([...known, ...paths])]
  if (except.length === known.length) return false
  const old = observerKey(witnesses[at])
  witnesses[at] = { name: filesObserver, arguments: { except } }
  for (const entry of entries) {
    const count = entry.changes.get(old)
    entry.changes.delete(old)
    const own = [...entry.paths].filter((path) => isExcepted(path, except))
    for (const path of entry.paths)
      // The folder of such files is one of them.
      if (isExcepted(path, except) || own.some((file) => file.startsWith(`${path}/`)))
        entry.paths.delete(path)
    // Its key is another now.
    if (count !== undefined && entry.paths.size > 0) entry.changes.set(observerKey(witnesses[at]), count)
    if (count === undefined || entry.changes.size > 0) continue
    entry.changed = 0
    for (const example of entry.examples) Object.assign(example, { changed: false, grew: false })
  }
  return true
}

/** The paths and kinds of paths that a look at the files leaves out. */
export function exceptionsOf({ arguments: { except } }: Pick<Observer, 'arguments'>): string[] {
  return Array.isArray(except) ? except.filter((path) => typeof path === 'string') : []
}

function isExcepted(path: string, except: readonly string[]): boolean {
  return except.includes(path) || except.includes(kindOfPath(path))
}

/** What the files show, without the paths that are excepted and folders that have nothing else. */
export function withoutFiles(text: string, except: readonly string[]): string {
  const json = except.length === 0 ? undefined : parseJson(text)
  if (!isPlainObject(json)) return text
  const paths = Object.keys(json)
  const out = paths.filter((path) => isExcepted(path, except))
  const left = paths.filter((path) => !out.includes(path))
  const hollow = (path: string): boolean =>
    json[path] === 'folder' &&
    out.some((file) => file.startsWith(`${path}/`)) &&
    !left.some((file) => file.startsWith(`${path}/`))
  return JSON.stringify(
    Object.fromEntries(left.filter((path) => !hollow(path)).map((path) => [path, json[path]])),
  )
}
