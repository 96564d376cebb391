import { AgogeError } from '../../../../error.ts'
import { createRandom } from '../../../../engine/random/index.ts'
import { InfrastructureError } from '../../../tool/tool.ts'
import type { ToolResult } from '../../../tool/tool.ts'
import { saysFailure } from '../arguments/error-hints.ts'
import { sampleArguments } from '../arguments/sample-arguments.ts'
import { requiredOf, UnusableSchema } from '../arguments/schema-parts.ts'
import { recordsIn, recordsOf } from '../arguments/text-records.ts'
import { wordsOf } from '../arguments/words.ts'
import { filesObserver } from '../environment-config.ts'
import type { AdmittedTool } from '../safety.ts'
import { parseJson, type PlainObject } from '../salient.ts'
import { type EpisodeState, newState, SlowCall } from '../server/state-pool.ts'
import type { Observer, ToolSystem } from '../tool-system.ts'
import { canonicalResults, compareResults, noGeneratedValues } from './generated.ts'
import {
  changedPaths,
  exceptFiles,
  exceptionsOf,
  filesOfMoments,
  madeOnce,
  withoutFiles,
} from './own-files.ts'
import { observerKey } from './observers.ts'
import { clockTick, plainCall, timelessLines } from './repeatable.ts'
import type { ToolExample } from './tool-profile.ts'
import { soundsChanging } from './tool-verbs.ts'
import { type Tried, untried } from './tried.ts'

export interface TryingOptions {
  seed: number
  seconds: number
  signal: AbortSignal | undefined
  mostCalls: number
  /** Whether the servers can describe their files. */
  files: boolean
  /** Records that are there at first, whatever the tools show. */
  records: readonly PlainObject[]
}

/** Thrown when the calls for trying the tools are used up. */
export class CallsUsedUp extends Error {}

const mostWitnesses = 6
/** Share of the calls for finding arguments; the others prove what was found. */
const shareOfTrying = 0.6
const mostExamples = 3
/** After this many preparing calls a fresh state is begun, so that examples stay short. */
const mostSeeds = 8
/** Calls that fill an empty state. */
const mostFillers = 3
/** Records that arguments are taken from. */
const mostRecords = 200

/**
 * Calls the tools of a system in one state that goes on, and looks at what each call changes: through the files of the
 * slot, and through tools that are believed to read. What it creates is there for the calls after it.
 */
export function createTrying(system: ToolSystem, options: TryingOptions) {
  const limits = { signal: options.signal, seconds: options.seconds }
  const tried = new Map<string, Tried>(system.tools.map((tool) => [tool.spec.name, untried(tool)]))
  const witnesses: Observer[] = options.files ? [{ name: filesObserver, arguments: {} }] : []
  /** Keys of the witnesses that change by calls alone. */
  const steady = new Set<string>()
  let state: EpisodeState = newState()
  let seeds: ToolExample['seeds'][number][] = []
  let sights: string[] | undefined
  /** How much the witnesses showed before the state was changed. */
  let fullness = 0
  let calls = 0
  // Proofs need calls too: trying may not use up all of them.
  let allowed = options.mostCalls * shareOfTrying
  /** Records that were given to tools or returned by them in this state. */
  let recent: PlainObject[] = []

  function begin(): void {
    state = newState()
    seeds = []
    sights = undefined
    recent = []
  }

  function spend(count: number): void {
    calls += count
    if (calls > allowed) throw new CallsUsedUp()
  }

  async function look(some: EpisodeState, observers: readonly Observer[]): Promise<string[]> {
    const tools = observers.filter(({ name }) => name !== filesObserver)
    spend(tools.length)
    const texts = await system.sights(some, tools, limits)
    // The files come last: what a server makes when it is first called is not what the next call changes.
    const at = observers.findIndex(({ name }) => name === filesObserver)
    return at < 0 ? texts : texts.toSpliced(at, 0, ...(await system.sights(some, [observers[at]], limits)))
  }

  async function call(some: EpisodeState, name: string, args: Record<string, unknown>): Promise<ToolResult> {
    spend(1)
    return system.look(some, name, args, limits)
  }

  /** Records a fault of the server. The state is lost with the process. Returns false if the tool is given up. */
  function fault(entry: Tried, error: unknown): void {
    if (options.signal?.aborted === true || AgogeError.isInstance(error) || error instanceof CallsUsedUp)
      throw error
    if (!(error instanceof InfrastructureError)) throw error
    if (error instanceof SlowCall) entry.slow++
    else {
      entry.died++
      entry.error = error.message
    }
    begin()
  }

  /** Removes a witness that cannot be looked at any more, and looks again. */
  async function lookNow(): Promise<string[]> {
    for (;;) {
      try {
        const texts = await look(state, witnesses)
        if (seeds.length === 0) fullness = length(texts)
        return texts
      } catch (error) {
        const last = witnesses.pop()
        if (last === undefined || last.name === filesObserver) throw error
        const entry = tried.get(last.name)
        if (entry === undefined) throw error
        fault(entry, error)
      }
    }
  }

  function draw({ spec, kind }: AdmittedTool, index: number): Record<string, unknown> {
    const current = sightRecords()
    // What is there now is most likely to be found; what was there before, or was only returned, comes in turn.
    const known = current.length > 0 && index % 2 === 0 ? current : [...recent.slice(-20), ...knownRecords()]
    const drawn = sampleArguments(spec.inputSchema, {
      random: createRandom(options.seed, 'profile', spec.name, index),
      words: wordsOf('train'),
      known,
      reuse: known.length > 0 && index % 4 !== 3,
      changes: kind !== 'read',
    })
    // Without optional arguments a tool shows most: no page, no filter.
    if (index % 8 > 0) return drawn
    const required = requiredOf(spec.inputSchema)
    return Object.fromEntries(Object.entries(drawn).filter(([name]) => required.includes(name)))
  }

  /** What the witnesses show now. */
  function sightRecords(): PlainObject[] {
    return (sights ?? []).flatMap((text, index) => {
      const { name, arguments: args } = witnesses[index] ?? { name: filesObserver, arguments: {} }
      return name === filesObserver ? recordsIn(parseJson(text)) : recordsOf(text, args, name)
    })
  }

  function knownRecords(): PlainObject[] {
    const shown = [...tried.values()].flatMap(({ tool, examples }) =>
      examples.flatMap((each) => recordsOf(each.text, each.arguments, tool.spec.name)),
    )
    return [...options.records, ...sightRecords(), ...shown].slice(0, mostRecords)
  }

  /** Makes one call and sees what it changes. Returns whether it succeeded. */
  async function attempt(entry: Tried, args: Record<string, unknown>): Promise<boolean> {
    const { name } = entry.tool.spec
    if (seeds.length >= mostSeeds) begin()
    try {
      const before = (sights ??= await lookNow())
      const result = await call(state, name, args)
      if (result.isError || saysFailure(result.text, args)) {
        entry.error = result.text
        sights = undefined
        return false
      }
      const own = [...seeds]
      const after = await lookNow()
      // A witness that broke is gone: nothing can be compared.
      const comparable = after.length === before.length
      if (comparable && !(await notePaths(entry, args, before, after))) {
        begin()
        return false
      }
      const different = comparable
        ? witnesses.filter((_, index) => plain(before[index]) !== plain(after[index]))
        : []
      sights = after
      entry.succeeded++
      const others = await lasting(
        different.filter((witness) => witness.name !== name),
        before,
      )
      if (others.length > 0) {
        entry.changed++
        for (const witness of others) {
          const key = observerKey(witness)
          entry.changes.set(key, (entry.changes.get(key) ?? 0) + 1)
          if (witness.name !== filesObserver) continue
          const shown = after[witnesses.indexOf(witness)]
          entry.opaque ||= /"hash":"[\da-f]{64}"/.test(shown)
          entry.rows ||= shown.includes('"rows of ')
        }
        seeds.push({ name, arguments: args, text: result.text })
        recent.push(...recordsIn(args), ...recordsOf(result.text, args, name))
      }
      const changed = others.length > 0
      if (entry.examples.filter((example) => example.changed === changed).length < mostExamples)
        entry.examples.push({
          arguments: args,
          text: result.text,
          seeds: own,
          changed,
          grew: changed && length(after) > length(before),
        })
      if (others.length === 0) await repeat(entry, args, result.text)
      return true
    } catch (error) {
      fault(entry, error)
      return false
    }
  }

  /**
   * Notes the files that a call changed. From now on those that the server writes for itself are not looked at, and an
   * argument that makes a reading tool write its result to a file is left out. Returns false for such a call.
   */
  async function notePaths(entry: Tried, args: PlainObject, before: string[], after: string[]) {
    const at = witnesses.findIndex(({ name }) => name === filesObserver)
    const changed = at < 0 ? [] : changedPaths(before[at], after[at])
    if (changed.length === 0) return true
    const { spec, kind } = entry.tool
    const output = kind === 'read' ? namingOption(entry.tool, args, changed) : undefined
    if (output !== undefined) {
      system.knowledge.forbid(spec.name, output)
      return false
    }
    let own: string[] = []
    if (kind === 'read') {
      await call(state, spec.name, args)
      const [later] = await look(state, [witnesses[at]])
      own = madeOnce(before[at], after[at], later)
    }
    for (const path of changed) entry.paths.add(path)
    const all = [...tried.values()]
    if (exceptFiles(all, witnesses, [...own, ...filesOfMoments(all)]))
      for (const texts of [before, after]) texts[at] = withoutFiles(texts[at], exceptionsOf(witnesses[at]))
    return true
  }

  /** The witnesses that still show a change when they are looked at again. The others fail now and then. */
  async function lasting(changed: readonly Observer[], before: readonly string[]): Promise<Observer[]> {
    const still: Observer[] = []
    const shown = sights ?? []
    const places = new Map(changed.map((witness) => [witness, witnesses.indexOf(witness)]))
    for (const [witness, at] of places) {
      const [again] = await look(state, [witness])
      const lasts = plain(again) !== plain(before[at])
      if (lasts && (await isSteady(witness, again))) {
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
      sights = undefined
    }
    return still
  }

  /** Whether a witness shows the same after a second in which nothing was called. A clock does not. */
  async function isSteady(witness: Observer, text: string): Promise<boolean> {
    const key = observerKey(witness)
    if (witness.name === filesObserver || steady.has(key)) return true
    await clockTick(performance.now(), options.signal)
    const [later] = await look(state, [witness])
    if (plain(later) !== plain(text)) return false
    steady.add(key)
    return true
  }

  /** Repeats a call that changed nothing: its result should be the same. */
  async function repeat(entry: Tried, args: Record<string, unknown>, text: string): Promise<void> {
    entry.repeated++
    const again = await call(state, entry.tool.spec.name, args)
    if (again.isError) {
      entry.failed++
      entry.error = again.text
      return
    }
    const given = JSON.stringify(args)
    const difference = compareResults(timelessLines(text, given), timelessLines(again.text, given))
    if (difference.kind === 'same') return
    const places = difference.kind === 'generated' ? difference.places : []
    const names = places.map((place) => place.slice(0, place.lastIndexOf(' ')))
    const stableLeft =
      withoutNames(text, names) !== '' && withoutNames(text, names) === withoutNames(again.text, names)
    if (names.length > 0 && names.every((name) => name !== '') && stableLeft) {
      for (const name of names) entry.volatile.add(name)
    } else entry.varied++
  }

  /** Repeats calls after which there was more to see, so that there is something to read and to change. */
  async function fill(): Promise<void> {
    for (const entry of tried.values()) {
      const first = entry.examples.find(({ grew }) => grew)
      if (first !== undefined && seeds.length < mostFillers) await attempt(entry, first.arguments)
    }
  }

  async function tryTool(entry: Tried, attempts: number, from: number): Promise<void> {
    // What an earlier tool emptied or left leaves nothing to call others with.
    if (seeds.length > 0 && sights !== undefined && length(sights) < fullness / 2) begin()
    if (seeds.length === 0 && from > 0) await fill()
    const { knowledge } = system
    let more = 0
    for (let index = 0; index < attempts + more; index++) {
      if (entry.hopeless !== undefined || entry.slow > 1 || entry.died > 1) return
      // What keeps failing may need what was there at first.
      if (from > 0 && index > 0 && index === attempts - 1 && entry.succeeded === 0 && seeds.length > 0)
        begin()
      let args: Record<string, unknown>
      try {
        sights ??= await lookNow()
      } catch (error) {
        fault(entry, error)
        continue
      }
      try {
        args = plainCall(entry.tool) === undefined || from + index > 0 ? draw(entry.tool, from + index) : {}
      } catch (error) {
        if (!(error instanceof UnusableSchema)) throw error
        entry.hopeless = `its schema cannot be used: ${error.message}`
        return
      }
      const taught = knowledge.taught
      // A try whose error message says what to do better does not count.
      if (!(await attempt(entry, args)) && knowledge.taught > taught && more < attempts) more++
    }
  }

  /** Whether a tool may be used to look at the state before it is known what it does. */
  function trusted({ tool, changed, hopeless, examples, volatile, varied }: Tried): boolean {
    if (changed + varied > 0 || hopeless !== undefined || examples.length === 0 || volatile.size > 0)
      return false
    return tool.kind === 'read' || !soundsChanging(tool.spec.name)
  }

  function addWitness(entry: Tried, args: Record<string, unknown>): void {
    const witness = { name: entry.tool.spec.name, arguments: args }
    if (witnesses.length >= mostWitnesses || !trusted(entry)) return
    if (witnesses.some((other) => observerKey(other) === observerKey(witness))) return
    witnesses.push(witness)
    sights = undefined
  }

  /** From now on, all calls may be used. */
  function beginProofs(): void {
    allowed = options.mostCalls
  }

  return { tried, witnesses, beginProofs, tryTool, addWitness, look, call, fault, calls: () => calls }
}

export type Trying = ReturnType<typeof createTrying>

function length(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0)
}

/** The optional argument that names one of these files. */
function namingOption(
  { spec }: AdmittedTool,
  args: Readonly<PlainObject>,
  paths: readonly string[],
): string | undefined {
  const required = requiredOf(spec.inputSchema)
  const names = (value: unknown): boolean =>
    typeof value === 'string' &&
    value !== '' &&
    paths.some((path) => path.endsWith(value.replace(/^\.?\//, '')))
  return Object.keys(args).find((name) => !required.includes(name) && names(args[name]))
}

function plain(text: string): string {
  return canonicalResults([text], noGeneratedValues())
}

/** What a result says besides some properties; empty if nothing is left. */
function withoutNames(text: string, names: readonly string[]): string {
  const left = canonicalResults([text], noGeneratedValues(), names)
  return /[\w]/.test(left.replaceAll(/"[\w-]+":/g, '')) ? left : ''
}
