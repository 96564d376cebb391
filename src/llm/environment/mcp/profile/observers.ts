import { recordsIn, recordsOf } from '../arguments/text-records.ts'
import { filesObserver } from '../environment-config.ts'
import { isPlainObject, objectsIn, parseJson, type PlainObject } from '../salient.ts'
import { presentParts } from '../server/database-state.ts'
import type { Observer, Sight } from '../tool-system.ts'
import type { Tried } from './tried.ts'

/** Tells observers apart. */
export function observerKey({ name, arguments: args }: Observer): string {
  return Object.keys(args).length === 0 ? name : `${name} ${JSON.stringify(args)}`
}

/** The records that an observer shows. Of files, only those that differ from the server's own state. */
export function shownRecords({ name, arguments: args, text }: Sight): PlainObject[] {
  return name === filesObserver ? recordsIn(presentParts(parseJson(text))) : recordsOf(text, args, name)
}

/**
 * Chooses the calls that show what the writing tools change. For each writing tool: tools without arguments if their
 * results showed each of its changes; else the files, if they are text; else reading tools with arguments drawn from
 * known records; else any reading tools that showed a change; else the files whatever they are. What a database tells of
 * itself comes first, a service or a file: it is all of its state, and in one order.
 *
 * @param usable keys of the observers that show the same in two equal states.
 */
export function chooseObservers(
  writers: readonly Tried[],
  witnesses: readonly Observer[],
  usable: ReadonlySet<string>,
  look: (observer: Observer) => string | undefined,
  service = false,
): Observer[] {
  const chosen = new Map<string, Observer>()
  for (const { changes, changed, opaque, rows } of writers) {
    const shows = witnesses.filter(
      (witness) => usable.has(observerKey(witness)) && changes.has(observerKey(witness)),
    )
    const always = shows.filter((witness) => changes.get(observerKey(witness)) === changed)
    const plainTools = always.filter(({ name, arguments: args }) => isPlain(args) && name !== filesObserver)
    const files = shows.filter(({ name }) => name === filesObserver)
    const readable = opaque ? [] : files
    const withArguments = shows.filter(
      ({ name, arguments: args }) => !isPlain(args) && name !== filesObserver,
    )
    const tools = shows.filter(({ name }) => name !== filesObserver)
    const fromDatabase = service || rows ? readable : []
    const first =
      [fromDatabase, plainTools, readable, withArguments, tools, files].find((some) => some.length > 0) ?? []
    for (const witness of first) chosen.set(observerKey(witness), witness)
  }
  return linked([...chosen.values()], witnesses, look)
}

function isPlain(args: Record<string, unknown>): boolean {
  return Object.keys(args).length === 0
}

/**
 * Turns an observer with one argument into one for each value that another observer lists: the tasks of every project,
 * not only of the one that happened to be tried.
 */
function linked(
  chosen: readonly Observer[],
  witnesses: readonly Observer[],
  look: (observer: Observer) => string | undefined,
): Observer[] {
  const lists = witnesses.filter(({ name, arguments: args }) => isPlain(args) && name !== filesObserver)
  const made = new Map<string, Observer>()
  for (const observer of chosen) {
    const [[argument, value] = [], ...more] = Object.entries(observer.arguments)
    const source =
      argument === undefined || more.length > 0 || !['string', 'number'].includes(typeof value)
        ? undefined
        : lists
            .map((list) => ({ list, key: keyOf(look(list), value) }))
            .find(({ key, list }) => key !== undefined && list.name !== observer.name)
    if (source?.key === undefined || argument === undefined) {
      made.set(observerKey(observer), observer)
      continue
    }
    made.set(observerKey(source.list), source.list)
    made.set(`${observer.name} for each`, {
      name: observer.name,
      arguments: {},
      each: { of: source.list.name, key: source.key, argument },
    })
  }
  // The lists come first: the others are looked up from what they show.
  return [...made.values()].toSorted(
    (left, right) => Number(left.each !== undefined) - Number(right.each !== undefined),
  )
}

/** The property under which a result has a value. */
function keyOf(text: string | undefined, value: unknown): string | undefined {
  if (text === undefined) return undefined
  for (const record of objectsIn(parseJson(text)))
    for (const [key, item] of Object.entries(record)) if (item === value && !isPlainObject(item)) return key
  return undefined
}
