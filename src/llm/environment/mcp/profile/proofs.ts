import { parseOwnJson } from '../../../../untrusted/own-json.ts'
import { InfrastructureError } from '../../../tool/tool.ts'
import { filesObserver } from '../environment-config.ts'
import { newState } from '../server/state-pool.ts'
import type { ResetMode } from '../server/pooled-server.ts'
import type { Observer } from '../tool-system.ts'
import { canonicalResults, compareResults, madeUpAnew, momentPlaces, valuesOf } from './generated.ts'
import type { ToolExample } from './tool-profile.ts'
import { observerKey } from './observers.ts'
import { timelessLines } from './repeatable.ts'
import type { Tried } from './tried.ts'
import { callTool, lookAt, noteFault, type Trying } from './trying-state.ts'

/** What repeating calls in fresh states proved. */
export interface Proof {
  /** Keys of the observers that show the same in equal states. */
  usable: Set<string>
  /** What each observer shows in a fresh state, or showed after a change, by its key. */
  fresh: Map<string, string>
  /** Where values stand that the tools make up, and values that a fresh state always has. */
  places: Set<string>
  known: Set<string>
  /** Whether a reset brings back the first state. */
  works: boolean
  /** Whether restoring files and services is enough, without a new process. */
  restores: boolean
  /** Reading tools whose results a change alters. */
  dependent: Set<string>
  /** Writing tools whose effect is not the same each time, with the reason. */
  unproved: Map<string, string>
}

interface Run {
  /** What the witnesses show in the first state, and after the call. */
  fresh: string[]
  after: string[]
  /** The result of the call, and what the reading tools return after it. */
  text: string
  seen: string[]
}

/** Readers whose results are looked at after each change. */
const mostReaders = 10
const mostWriters = 12

/**
 * Repeats an example of each writing tool twice, each time from the first state. That shows what the tools make up, and
 * whether a reset brings the first state back. Restoring files and services is tried first, since it is cheaper. If
 * anything then differs from what a new process shows, every reset is a restart.
 */
export async function proveWriters(trying: Trying, proof: Proof, mode: ResetMode | undefined): Promise<void> {
  const entries = [...trying.tried.values()]
  if (mode !== undefined) mode.way = 'restart'
  await proveFreshState(trying, proof)
  const writers = entries.filter(({ changed }) => changed > 0).slice(0, mostWriters)
  if (mode !== undefined) {
    mode.way = 'restore'
    const before = writers.map(
      (entry) => [entry, { repeated: entry.repeated, failed: entry.failed }] as const,
    )
    const tried = {
      ...proof,
      usable: new Set(proof.usable),
      places: new Set(proof.places),
      unproved: new Map(),
    }
    const right = await proveAll(trying, tried, writers)
    mode.way = 'restart'
    // What failed because of a reset that is not right says nothing about the tools.
    if (!right) for (const [entry, counts] of before) Object.assign(entry, counts)
    if (right) {
      Object.assign(proof, tried, { restores: true })
      return
    }
  }
  await proveAll(trying, proof, writers)
}

/** Returns whether each example began in the first state and left the same state each time. */
async function proveAll(trying: Trying, proof: Proof, writers: readonly Tried[]): Promise<boolean> {
  const { witnesses } = trying
  const readers = [...trying.tried.values()]
    .filter(({ changed, examples, varied }) => changed === 0 && varied === 0 && examples.length > 0)
    .slice(0, mostReaders)
    .map(({ tool, examples }): Observer => ({ name: tool.spec.name, arguments: examples[0].arguments }))
  const first = await lookAtFresh(trying, readers)
  let right = true
  for (const entry of writers) {
    const { name } = entry.tool.spec
    const example = entry.examples
      .filter(({ changed }) => changed)
      .toSorted((left, right) => left.seeds.length - right.seeds.length)
      .at(0)
    if (example === undefined) continue
    const one = await runExample(trying, entry, example, readers)
    if (one !== undefined) noteDependents(one.seen, first, readers, witnesses, entry, proof)
    const two = await runExample(trying, entry, example)
    if (one === undefined || two === undefined) {
      right = false
      proof.unproved.set(name, entry.error ?? 'the same call fails when repeated')
      continue
    }
    // Times that a reset alters, such as the last change of a file, do not speak against it.
    for (const [index, witness] of witnesses.entries()) {
      const first = proof.fresh.get(observerKey(witness)) ?? ''
      for (const other of [one.fresh[index], two.fresh[index]]) {
        const difference = compareResults(first, other)
        if (difference.kind === 'generated') for (const place of difference.places) proof.places.add(place)
      }
      if (one.fresh[index] !== two.fresh[index] || one.fresh[index] !== first)
        for (const value of valuesOf(first))
          if (!valuesOf(two.fresh[index]).includes(value)) proof.known.delete(value)
    }
    if (!same(one.fresh, two.fresh, witnesses, proof) || !sameAsFirst(one.fresh, witnesses, proof)) {
      right = false
      proof.works = false
    }
    for (const [index, witness] of witnesses.entries()) {
      const difference = compareResults(one.after[index], two.after[index])
      if (difference.kind === 'generated') for (const place of difference.places) proof.places.add(place)
      for (const place of momentPlaces(two.after[index])) proof.places.add(place)
      if (difference.kind === 'other' && proof.usable.delete(observerKey(witness)))
        right &&= isReordered(one.after[index], two.after[index])
    }
    const texts = compareResults(one.text, two.text)
    if (texts.kind === 'generated') for (const place of texts.places) proof.places.add(place)
    if (texts.kind === 'other') right = false
    if (![...entry.changes.keys()].some((key) => proof.usable.has(key)))
      proof.unproved.set(name, 'the same call leaves another state when repeated')
  }
  return right
}

/** Whether two texts have the same lines in another order, which a server may choose as it likes. */
function isReordered(one: string, two: string): boolean {
  const [left, right] = [one, two].map((text) => text.split('\n').toSorted().join('\n'))
  return left === right
}

/** Looks at two fresh states. Observers that show something else in the second are not used. */
async function proveFreshState(trying: Trying, proof: Proof): Promise<void> {
  const { witnesses } = trying
  let one = await lookAtFresh(trying, witnesses)
  const two = await lookAtFresh(trying, witnesses)
  if (two.length < one.length) one = await lookAt(trying, newState(), witnesses)
  const both = two.map((text) => new Set(valuesOf(text)))
  for (const [index, witness] of witnesses.entries()) {
    const difference = compareResults(one[index], two[index])
    proof.fresh.set(observerKey(witness), one[index])
    if (difference.kind === 'other') continue
    if (difference.kind === 'generated') for (const place of difference.places) proof.places.add(place)
    proof.usable.add(observerKey(witness))
    for (const value of valuesOf(one[index])) if (both[index].has(value)) proof.known.add(value)
  }
}

/**
 * What observers show in a fresh state. If the server breaks when they are looked at one after the other, the last are removed from
 * the list until it does not.
 */
async function lookAtFresh(trying: Trying, observers: Observer[]): Promise<string[]> {
  for (;;) {
    try {
      return await lookAt(trying, newState(), observers)
    } catch (error) {
      const last = observers.findLastIndex(({ name }) => name !== filesObserver)
      const isFault = error instanceof InfrastructureError && trying.options.signal?.aborted !== true
      if (!isFault || last < 0) throw error
      observers.splice(last, 1)
    }
  }
}

/**
 * Runs an example in a fresh state; undefined if it cannot be repeated there. Values that a preparing call makes up, such
 * as the id of a new record, are replaced by the new ones in the calls after it.
 */
async function runExample(
  trying: Trying,
  entry: Tried,
  example: ToolExample,
  readers: readonly Observer[] = [],
): Promise<Run | undefined> {
  const state = newState()
  const renewed = new Map<string, unknown>()
  try {
    const fresh = await lookAt(trying, state, trying.witnesses)
    for (const seed of example.seeds) {
      const result = await callTool(trying, state, seed.name, renew(seed.arguments, renewed))
      if (result.isError) {
        entry.error = `a call before it cannot be repeated: ${seed.name}: ${result.text}`
        return undefined
      }
      for (const [old, now] of madeUpAnew(seed.text, result.text)) renewed.set(old, now)
    }
    entry.repeated++
    const { text, isError } = await callTool(
      trying,
      state,
      entry.tool.spec.name,
      renew(example.arguments, renewed),
    )
    if (isError) {
      entry.failed++
      entry.error = text
      return undefined
    }
    const after = await lookAt(trying, state, trying.witnesses)
    return { fresh, text, after, seen: await lookAt(trying, state, readers) }
  } catch (error) {
    await noteFault(trying, entry, error)
    return undefined
  }
}

/** Replaces old values in arguments by new ones. */
function renew(
  args: Record<string, unknown>,
  renewed: ReadonlyMap<string, unknown>,
): Record<string, unknown> {
  if (renewed.size === 0) return args
  return parseOwnJson(JSON.stringify(args), (_, value: unknown) => {
    return typeof value === 'string' || typeof value === 'number'
      ? (renewed.get(String(value)) ?? value)
      : value
  }) as Record<string, unknown>
}

/** Notes the readers whose results a change altered, and lets them show it if they are called in the same way. */
function noteDependents(
  seen: readonly string[],
  first: readonly string[],
  readers: readonly Observer[],
  witnesses: readonly Observer[],
  entry: Tried,
  proof: Proof,
): void {
  for (const [index, reader] of readers.entries()) {
    const [now, before] = [seen[index], first[index]].map((text) =>
      canonical(timelessLines(text, JSON.stringify(reader.arguments)), proof),
    )
    if (now === before) continue
    proof.dependent.add(reader.name)
    const key = observerKey(reader)
    if (!witnesses.some((witness) => observerKey(witness) === key)) continue
    if (!entry.changes.has(key)) entry.changes.set(key, 1)
  }
}

function canonical(text: string, { places, known }: Proof): string {
  return canonicalResults([text], { places, known })
}

/** Whether two looks show the same through the observers that are usable. */
function same(
  left: readonly string[],
  right: readonly string[],
  witnesses: readonly Observer[],
  proof: Proof,
): boolean {
  return witnesses.every((witness, index) => {
    if (!proof.usable.has(observerKey(witness))) return true
    return canonical(left[index], proof) === canonical(right[index], proof)
  })
}

/** Whether the usable witnesses show what they showed at first. */
function sameAsFirst(seen: readonly string[], witnesses: readonly Observer[], proof: Proof): boolean {
  return witnesses.every((witness, index) => {
    const key = observerKey(witness)
    return (
      !proof.usable.has(key) || canonical(seen[index], proof) === canonical(proof.fresh.get(key) ?? '', proof)
    )
  })
}

/** Repeats per reading tool. A tool that fails in a fifth of its calls is missed by eight of them in 17 of 100 cases. */
const repeats = 8
/** Repeats of a tool that failed once, for its rate. */
const moreRepeats = 12

function sameButForTime({ arguments: args, text }: ToolExample, other: string): boolean {
  const [one, two] = [text, other].map((some) => timelessLines(some, JSON.stringify(args)))
  return compareResults(one, two).kind !== 'other'
}

/** Repeats an example of each reading tool in a fresh state, to see whether its result is the same and how often it fails. */
export async function proveReaders(trying: Trying): Promise<void> {
  let state = newState()
  for (const entry of trying.tried.values()) {
    const example = entry.examples.find(({ seeds }) => seeds.length === 0)
    if (entry.changed > 0 || example === undefined || entry.slow > 1 || entry.died > 1) continue
    let times = repeats
    for (let time = 0; time < times; time++) {
      try {
        const result = await callTool(trying, state, entry.tool.spec.name, example.arguments)
        entry.repeated++
        if (result.isError) {
          entry.failed++
          entry.error = result.text
          times = repeats + moreRepeats
        } else if (!sameButForTime(example, result.text)) entry.varied++
      } catch (error) {
        await noteFault(trying, entry, error)
        state = newState()
        if (entry.slow > 1 || entry.died > 1) break
      }
    }
  }
}
