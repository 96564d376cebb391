import { filesObserver } from '../environment-config.ts'
import type { PlainObject } from '../salient.ts'
import type { Observer } from '../tool-system.ts'
import { canonicalResults, noGeneratedValues } from './generated.ts'
import { observerKey, shownRecords } from './observers.ts'
import { clockTick } from './repeatable.ts'
import { soundsChanging } from './tool-verbs.ts'
import type { Tried } from './tried.ts'
import { lookAt, noteFault, type Trying } from './trying-state.ts'

// What is looked at, before and after each call, to see what the call changes.

const mostWitnesses = 6

/** Lets a call of a tool show the state from now on, if it can be believed to read only. */
export function addWitness(trying: Trying, entry: Tried, args: Record<string, unknown>): void {
  const { witnesses, options } = trying
  // What a service keeps is seen without any tool.
  if (options.service || witnesses.length >= mostWitnesses || !isTrusted(entry)) return
  const witness = { name: entry.tool.spec.name, arguments: args }
  if (witnesses.some((other) => observerKey(other) === observerKey(witness))) return
  witnesses.push(witness)
  trying.sights = undefined
}

/** Whether a tool may be used to look at the state before it is known what it does. */
function isTrusted({ tool, changed, hopeless, examples, volatile, varied }: Tried): boolean {
  if (changed + varied > 0 || hopeless !== undefined || examples.length === 0 || volatile.size > 0)
    return false
  return tool.kind === 'read' || !soundsChanging(tool.spec.name)
}

/** What the witnesses show in the present state. A witness that breaks is removed. */
export async function lookNow(trying: Trying): Promise<string[]> {
  const { witnesses, tried } = trying
  for (;;) {
    try {
      const texts = await lookAt(trying, trying.state, witnesses)
      if (trying.seeds.length === 0) trying.fullness = lengthOf(texts)
      return texts
    } catch (error) {
      const last = witnesses.pop()
      if (last === undefined || last.name === filesObserver) throw error
      const entry = tried.get(last.name)
      if (entry === undefined) throw error
      await noteFault(trying, entry, error)
    }
  }
}

/**
 * The witnesses that still show a change when they are looked at again. The others fail now and then, or tell the time, and are
 * removed.
 */
export async function lastingChanges(
  trying: Trying,
  changed: readonly Observer[],
  before: readonly string[],
): Promise<Observer[]> {
  const { witnesses, tried } = trying
  const still: Observer[] = []
  const shown = trying.sights ?? []
  const places = new Map(changed.map((witness) => [witness, witnesses.indexOf(witness)]))
  for (const [witness, at] of places) {
    const [again] = await lookAt(trying, trying.state, [witness])
    const lasts = plainText(again) !== plainText(before[at])
    if (lasts && (await isSteady(trying, witness, again))) {
      still.push(witness)
      continue
    }
    const entry = tried.get(witness.name)
    if (entry === undefined) continue
    if (!lasts) {
      entry.repeated += 2
      entry.failed++
      entry.error = shown[at].replace(/^error: /, '')
    }
    witnesses.splice(witnesses.indexOf(witness), 1)
    trying.sights = undefined
  }
  return still
}

/** Whether a witness shows the same after a second in which nothing was called. A clock does not. */
async function isSteady(trying: Trying, witness: Observer, text: string): Promise<boolean> {
  const key = observerKey(witness)
  if (witness.name === filesObserver || trying.steady.has(key)) return true
  await clockTick(performance.now(), trying.options.signal)
  const [later] = await lookAt(trying, trying.state, [witness])
  if (plainText(later) !== plainText(text)) return false
  trying.steady.add(key)
  return true
}

/** The records that the witnesses show now. */
export function sightRecords({ sights = [], witnesses }: Trying): PlainObject[] {
  return sights.flatMap((text, index) => {
    const { name, arguments: args } = witnesses[index] ?? { name: filesObserver, arguments: {} }
    return shownRecords({ name, arguments: args, text })
  })
}

export function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0)
}

/** A text without ids and times. */
export function plainText(text: string): string {
  return canonicalResults([text], noGeneratedValues())
}
