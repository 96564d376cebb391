import { createRandom } from '../../../../engine/random/index.ts'
import { saysFailure } from '../arguments/error-hints.ts'
import { sampleArguments } from '../arguments/sample-arguments.ts'
import { requiredOf, UnusableSchema } from '../arguments/schema-parts.ts'
import { recordsIn, recordsOf } from '../arguments/text-records.ts'
import { wordsOf } from '../arguments/words.ts'
import { filesObserver } from '../environment-config.ts'
import type { AdmittedTool } from '../safety.ts'
import type { PlainObject } from '../salient.ts'
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
import { plainCall, timelessLines } from './repeatable.ts'
import type { ToolExample } from './tool-profile.ts'
import type { Tried } from './tried.ts'
import { beginState, callTool, lookAt, noteFault, type Trying } from './trying-state.ts'
import { lastingChanges, lengthOf, lookNow, plainText, sightRecords } from './witnesses.ts'

const mostExamples = 3
/** After this many preparing calls a fresh state is begun, so that examples stay short. */
const mostSeeds = 8
/** Calls that fill an empty state. */
const mostFillers = 3
/** Records that arguments are taken from. */
const mostRecords = 200

/**
 * Calls a tool with drawn arguments in the state that goes on, and notes what each call changes. What it creates is there for
 * the calls after it.
 *
 * @param from number of the first draw: each number draws other arguments.
 */
export async function tryTool(trying: Trying, entry: Tried, attempts: number, from: number): Promise<void> {
  // What an earlier tool emptied or left leaves nothing to call others with.
  const { sights } = trying
  if (trying.seeds.length > 0 && sights !== undefined && lengthOf(sights) < trying.fullness / 2)
    beginState(trying)
  if (trying.seeds.length === 0 && from > 0) await fill(trying)
  const { knowledge } = trying.system
  let more = 0
  for (let index = 0; index < attempts + more; index++) {
    if (entry.hopeless !== undefined || entry.slow > 1 || entry.died > 1) return
    // What keeps failing may need what was there at first.
    const isLast = from > 0 && index > 0 && index === attempts - 1
    if (isLast && entry.succeeded === 0 && trying.seeds.length > 0) beginState(trying)
    let args: Record<string, unknown>
    try {
      trying.sights ??= await lookNow(trying)
    } catch (error) {
      await noteFault(trying, entry, error)
      continue
    }
    try {
      const isPlain = plainCall(entry.tool) !== undefined && from + index === 0
      args = isPlain ? {} : draw(trying, entry.tool, from + index)
    } catch (error) {
      if (!(error instanceof UnusableSchema)) throw error
      entry.hopeless = `its schema cannot be used: ${error.message}`
      return
    }
    const taught = knowledge.taught
    // A try whose error message says what to do better does not count.
    if (!(await attempt(trying, entry, args)) && knowledge.taught > taught && more < attempts) more++
  }
}

/** Repeats calls after which there was more to see, so that there is something to read and to change. */
async function fill(trying: Trying): Promise<void> {
  for (const entry of trying.tried.values()) {
    const first = entry.examples.find(({ grew }) => grew)
    if (first !== undefined && trying.seeds.length < mostFillers)
      await attempt(trying, entry, first.arguments)
  }
}

function draw(trying: Trying, { spec, kind }: AdmittedTool, index: number): Record<string, unknown> {
  const current = sightRecords(trying)
  // What is there now is most likely to be found; what was there before, or was only returned, comes in turn.
  // How tables are declared seldom changes, and nothing else says which columns have to be given.
  const tables = trying.options.records.filter(({ exact }) => exact === true)
  const known =
    current.length > 0 && index % 2 === 0
      ? [...current, ...tables]
      : [...trying.recent.slice(-20), ...knownRecords(trying, current)]
  const drawn = sampleArguments(spec.inputSchema, {
    random: createRandom(trying.options.seed, 'profile', spec.name, index),
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

function knownRecords({ tried, options }: Trying, current: readonly PlainObject[]): PlainObject[] {
  const shown = [...tried.values()].flatMap(({ tool, examples }) =>
    examples.flatMap((each) => recordsOf(each.text, each.arguments, tool.spec.name)),
  )
  return [...options.records, ...current, ...shown].slice(0, mostRecords)
}

/** Makes one call and sees what it changes. Returns whether it succeeded. */
async function attempt(trying: Trying, entry: Tried, args: Record<string, unknown>): Promise<boolean> {
  const { name } = entry.tool.spec
  if (trying.seeds.length >= mostSeeds) beginState(trying)
  try {
    const before = (trying.sights ??= await lookNow(trying))
    const result = await callTool(trying, trying.state, name, args)
    if (result.isError || saysFailure(result.text, args)) {
      entry.error = result.text
      trying.sights = undefined
      return false
    }
    const seeds = [...trying.seeds]
    const after = await lookNow(trying)
    // A witness that broke is gone: nothing can be compared.
    const comparable = after.length === before.length
    if (comparable && !(await notePaths(trying, entry, args, { before, after }))) {
      beginState(trying)
      return false
    }
    await noteSuccess(trying, entry, { args, text: result.text, seeds, before, after, comparable })
    return true
  } catch (error) {
    await noteFault(trying, entry, error)
    return false
  }
}

interface Success {
  args: Record<string, unknown>
  text: string
  /** The calls before it that changed the state. */
  seeds: ToolExample['seeds']
  before: readonly string[]
  after: string[]
  comparable: boolean
}

/** Notes what a call that succeeded changed. One that changed nothing is repeated. */
async function noteSuccess(trying: Trying, entry: Tried, call: Success): Promise<void> {
  const { args, text, seeds, before, after, comparable } = call
  const { name } = entry.tool.spec
  const different = comparable
    ? trying.witnesses.filter((_, index) => plainText(before[index]) !== plainText(after[index]))
    : []
  trying.sights = after
  entry.succeeded++
  const others = different.filter((witness) => witness.name !== name)
  const changes = await lastingChanges(trying, others, before)
  const changed = changes.length > 0
  if (changed) {
    entry.changed++
    for (const witness of changes) {
      const key = observerKey(witness)
      entry.changes.set(key, (entry.changes.get(key) ?? 0) + 1)
      if (witness.name !== filesObserver) continue
      const shown = after[trying.witnesses.indexOf(witness)]
      entry.opaque ||= /"hash":"[\da-f]{64}"/.test(shown)
      entry.rows ||= shown.includes('"rows of ')
    }
    trying.seeds.push({ name, arguments: args, text })
    trying.recent.push(...recordsIn(args), ...recordsOf(text, args, name))
  }
  const example: Tried['examples'][number] = {
    arguments: args,
    text,
    seeds,
    changed,
    grew: changed && lengthOf(after) > lengthOf(before),
  }
  if (entry.examples.filter((one) => one.changed === changed).length < mostExamples)
    entry.examples.push(example)
  if (!changed) await repeat(trying, entry, example)
}

/**
 * Notes the files that a call changed. From now on those that the server writes for itself are not looked at, and an
 * argument that makes a reading tool write its result to a file is left out. Returns false for such a call.
 */
async function notePaths(
  trying: Trying,
  entry: Tried,
  args: PlainObject,
  { before, after }: { before: string[]; after: string[] },
): Promise<boolean> {
  const { witnesses, tried, system } = trying
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
    await callTool(trying, trying.state, spec.name, args)
    const [later] = await lookAt(trying, trying.state, [witnesses[at]])
    own = madeOnce(before[at], after[at], later)
  }
  for (const path of changed) entry.paths.add(path)
  const all = [...tried.values()]
  if (exceptFiles(all, witnesses, [...own, ...filesOfMoments(all)]))
    for (const texts of [before, after]) texts[at] = withoutFiles(texts[at], exceptionsOf(witnesses[at]))
  return true
}

/** Repeats a call that changed nothing: its result should be the same. */
async function repeat(
  trying: Trying,
  entry: Tried,
  { arguments: args, text }: Pick<ToolExample, 'arguments' | 'text'>,
): Promise<void> {
  entry.repeated++
  const again = await callTool(trying, trying.state, entry.tool.spec.name, args)
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

/** What a result says besides some properties; empty if nothing is left. */
function withoutNames(text: string, names: readonly string[]): string {
  const left = canonicalResults([text], noGeneratedValues(), names)
  return /[\w]/.test(left.replaceAll(/"[\w-]+":/g, '')) ? left : ''
}
