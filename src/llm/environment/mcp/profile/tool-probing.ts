import { AgogeError } from '../../../../error.ts'
import { isAskable } from '../goals/questions.ts'
import { createRandom } from '../../../../engine/random/index.ts'
import { isPlainObject, type PlainObject, whyNothingSalient } from '../salient.ts'
import { type Draft, draftTask, type KindPlan } from '../mcp-task.ts'
import { chainsOf } from './chains.ts'
import {
  answersOtherwise,
  clockTick,
  normaliseObservation,
  repeatableSights,
  tellsTime,
  timelessLines,
} from './repeatable.ts'
import { changedNothing, runReference } from '../reference.ts'
import type { ReferenceRun } from '../reference.ts'
import type { RequestStep } from '../request/step-words.ts'
import type { AdmittedTool, LeftOutTool } from '../safety.ts'
import { statementStart } from '../arguments/sql.ts'
import { recordsOf } from '../arguments/text-records.ts'
import { requiredOf, resolveSchema, typeOf, UnusableSchema } from '../arguments/schema-parts.ts'
import { SlowCall, StateNotMade } from '../server/state-pool.ts'
import type { StateCall } from '../server/state-pool.ts'
import type { ToolSystem } from '../tool-system.ts'
import type { ProfiledTools } from './profile-tools.ts'
import type { ToolProfile } from './tool-profile.ts'
import { plainCalls, tryUnknownTools } from './trial.ts'

export interface Probe {
  kinds: KindPlan[]
  creators: AdmittedTool[]
  harvest: PlainObject[]
  /** Tools without tasks, with the reason. */
  leftOut: LeftOutTool[]
  /** Tools found to be read-only, including those that the server does not annotate. */
  readers: readonly string[]
  /** What each tool does, where the tools were profiled. */
  profiles: readonly ToolProfile[]
}

export interface ProbeOptions {
  seed: number
  /** What is missing for tasks that change the state, as a clause. */
  missing?: string | undefined
  /** Seconds that a call may take; slower tools are left out. Default: 3. */
  deadlineSeconds?: number | undefined
  /** Maximum number of kinds with two steps. Default: 4. */
  chains?: number | undefined
  signal?: AbortSignal | undefined
  /** What trying the tools showed before. Default: they are tried here. */
  profile?: ProfiledTools | undefined
}

type Success = ReferenceRun & { ok: true }

const attempts = 12
/**
 * How many times results of reading tools may lead to calls of further tools, such as from a list of projects to their
 * tasks.
 */
const depth = 3
/** Maximum number of records that arguments are taken from. */
const mostRecords = 200

/**
 * Tries every admitted tool with generated arguments and finds out which can be used in tasks. The arguments must match
 * its schema, a call must succeed in time, it must return something or change the observed state, and repeating it must
 * give the same result. Other tools are removed from those that `system` offers.
 */
export async function probeTools(system: ToolSystem, options: ProbeOptions): Promise<Probe> {
  const probe: Probe = {
    kinds: [],
    creators: [],
    harvest: [],
    leftOut: [],
    readers: [],
    profiles: options.profile?.profiles ?? [],
  }
  const found: { kind: KindPlan; draft: Draft; run: Success }[] = []
  const began = performance.now()
  const limits = { signal: options.signal, seconds: options.deadlineSeconds ?? 3 }
  /** Calls that read something, by any tool. */
  const shown: Draft[] = []
  /** Tools that are broken, slow or have impossible schemas. Other arguments would not help. */
  const hopeless = new Set<string>()

  /** A busy machine may stall once. A slow tool is slow twice. */
  async function patiently(draft: Draft): Promise<ReferenceRun> {
    try {
      return await runReference(system, draft, limits)
    } catch (error) {
      if (!(error instanceof SlowCall)) throw error
      return runReference(system, draft, limits)
    }
  }

  /** Repeats the call. A tool that fails sometimes differs from one whose answers vary, so it gets a few tries. */
  async function repeat(draft: Draft): Promise<ReferenceRun> {
    let again: ReferenceRun = { ok: false, reason: 'it was not tried' }
    for (let tries = 0; tries < 3 && !again.ok; tries++)
      try {
        again = await patiently(draft)
      } catch (error) {
        if (options.signal?.aborted === true || AgogeError.isInstance(error)) throw error
        again = { ok: false, reason: (error as Error).message }
        if (!(error instanceof StateNotMade)) return again
      }
    return again
  }

  /**
   * Results of the reading tools of a kind, without lines that tell the time. Results of writing tools may vary, because
   * the state is judged.
   */
  const answers = (kind: KindPlan, draft: Draft, { results }: Success): string[] =>
    results
      .filter((_, index) => kind.tools[index].kind === 'read')
      .map((text) => timelessLines(text, JSON.stringify(draft.steps)))
      .map((text) => normaliseObservation(text, system.ignore))

  const tells = (kind: KindPlan, draft: Draft, run: Success): boolean =>
    answers(kind, draft, run).some((text) => tellsTime(text, JSON.stringify(draft.steps)))

  /**
   * Returns the kind of a draft whose result does not depend on the current time, with the optional argument that fixes
   * the time, if there is one. Returns undefined if the result depends on the current time: a task can ask for a given
   * date, but not for now.
   */
  async function anchor(kind: KindPlan, draft: Draft, run: Success): Promise<KindPlan | undefined> {
    if (tells(kind, draft, run)) return undefined
    const [tool] = kind.tools
    const [step] = draft.steps
    if (kind.tools.length > 1 || tool.kind !== 'read') return kind
    const optional = freeOptions(tool).filter((name) => name in step.arguments)
    const required = requiredOf(tool.spec.inputSchema)
    const speaks = async (names: readonly unknown[]): Promise<boolean> => {
      const given = Object.entries(step.arguments).filter(([name]) => names.includes(name))
      const less = { ...draft, steps: [{ ...step, arguments: Object.fromEntries(given) }] }
      const other = await patiently(less)
      return other.ok && tells(kind, less, other)
    }
    if (Object.keys(step.arguments).every((name) => required.includes(name))) return kind
    if (!(await speaks(required))) return kind
    for (const name of optional) if (!(await speaks([...required, name]))) return { ...kind, anchor: name }
    return undefined
  }

  async function attempt(kind: KindPlan, tries = attempts): Promise<string | undefined> {
    let reason = 'no arguments were found for which it does anything'
    let unchanged = 0
    for (let index = 0; index < tries; index++) {
      try {
        const draft = draftTask(kind, 'train', probe, createRandom(options.seed, 'probe', kind.name, index))
        const run = await patiently(draft)
        if (!run.ok) {
          reason = run.reason
          if (reason === changedNothing) unchanged++
          continue
        }
        const anchored = await anchor(kind, draft, run)
        if (anchored === undefined) {
          reason = answersOtherwise
          continue
        }
        const last = kind.tools[kind.tools.length - 1]
        const result = run.results[run.results.length - 1]
        const few = shown.filter((other) => other.kind.name === kind.name).length < 3
        if (kind.tools.length === 1 && last.kind === 'read' && few) shown.push(draft)
        if (last.kind === 'read' && !isAskable(result, system.ignore)) {
          reason = whyNothingSalient(result, system.resultLimit)
          continue
        }
        found.push({ kind: anchored, draft, run })
        return undefined
      } catch (error) {
        if (options.signal?.aborted === true || AgogeError.isInstance(error)) throw error
        if (error instanceof StateNotMade) {
          reason = error.message
          continue
        }
        hopeless.add(kind.name)
        if (error instanceof UnusableSchema) return `its schema cannot be used: ${error.message}`
        return error instanceof SlowCall ? error.message : `the server failed: ${(error as Error).message}`
      }
    }
    return unchanged > 0 ? changedNothing : reason
  }

  const single = (tool: AdmittedTool): KindPlan => ({ name: tool.spec.name, tools: [tool] })
  /** A tool of unknown kind is tried as one that writes. If it never changes anything, it counts as reading. */
  async function attemptTool(tool: AdmittedTool, conclude: boolean): Promise<string | undefined> {
    if (tool.kind !== 'unknown') return attempt(single(tool))
    const tries = conclude ? 8 : 4
    const reason = await attempt(single({ ...tool, kind: 'write' }), tries)
    return reason === changedNothing && conclude ? attempt(single({ ...tool, kind: 'read' })) : reason
  }

  probe.leftOut.push(...(options.profile?.leftOut ?? []))
  const refused = new Set(probe.leftOut.map(({ name }) => name))
  let tools = system.tools.filter(({ spec }) => !refused.has(spec.name))
  if (!system.changeable) {
    const { missing = 'the state cannot be reset and observed' } = options
    const trial = await tryUnknownTools(system, { ...limits, seed: options.seed, missing })
    probe.leftOut.push(...trial.leftOut)
    tools = [...tools.filter((tool) => tool.kind !== 'unknown'), ...trial.readers]
  }
  const readers = tools.filter((tool) => tool.kind === 'read')
  const others = tools.filter((tool) => tool.kind !== 'read')
  const pending = new Map<AdmittedTool, string>()
  const go = async (some: readonly AdmittedTool[], conclude = true): Promise<void> => {
    for (const tool of some) {
      const reason = await attemptTool(tool, conclude)
      if (reason === undefined) pending.delete(tool)
      else pending.set(tool, reason)
    }
  }
  const harvest = async (calls: readonly StateCall[]): Promise<PlainObject[]> =>
    (await repeatableSights(system, calls, limits)).flatMap(({ text, call }) =>
      recordsOf(text, withoutStatements(call.arguments), call.name),
    )

  // Tools that may write come first, in an initial state: those that create something can prepare states for the
  // others.
  await go(others, false)
  probe.creators = found.filter(({ draft }) => !isPlain(draft.steps[0])).map(({ kind }) => kind.tools[0])
  const quiet = others.filter((tool) => pending.get(tool) === changedNothing && tool.kind === 'unknown')
  probe.harvest = [
    ...(await system.records(options.signal)),
    ...(await harvest(plainCalls([...readers, ...quiet]))),
  ].slice(0, mostRecords)
  await go(readers)
  const something = probe.creators.length + probe.harvest.length > 0
  await go(
    others.filter(
      (tool) => pending.has(tool) && !hopeless.has(tool.spec.name) && (something || tool.kind === 'unknown'),
    ),
  )
  // Results of reading may be arguments of other tools: the list of projects contains the ids for listing tasks.
  for (let round = 0, from = 0; round < depth && pending.size > 0; round++) {
    const fresh = shown.slice(from).flatMap(({ steps }) => (isPlain(steps[0]) ? [] : [steps[0]]))
    from = shown.length
    const more = await harvest(fresh.map(({ tool, arguments: args }) => ({ name: tool, arguments: args })))
    if (more.length === 0) break
    probe.harvest = [...probe.harvest, ...more].slice(0, mostRecords)
    await go([...pending.keys()].filter((tool) => !hopeless.has(tool.spec.name)))
  }
  for (const [tool, reason] of pending)
    probe.leftOut.push({
      name: tool.spec.name,
      reason,
      // The change may show in a place that only the user knows.
      ...(reason === changedNothing ? { remedy: 'state' } : {}),
    })

  for (const chain of chainsOf(
    found.map((entry) => entry.kind.tools[0]),
    options.chains ?? 4,
    probe.creators,
  )) {
    await attempt(chain, 4)
  }

  await clockTick(began, options.signal)
  const stable = new Set<AdmittedTool>()
  for (const { kind, draft, run } of found) {
    if (kind.tools.length > 1 && !kind.tools.every((tool) => stable.has(tool))) continue
    const again = await repeat(draft)
    const equal =
      again.ok &&
      again.after === run.after &&
      answers(kind, draft, again).join('\n') === answers(kind, draft, run).join('\n')
    if (equal) {
      if (kind.tools.length === 1) stable.add(kind.tools[0])
      probe.kinds.push(kind)
    } else if (kind.tools.length === 1) {
      const other = again.ok && again.after !== run.after ? leavesOtherwise : answersOtherwise
      const reason = again.ok ? other : `the same call fails when repeated: ${again.reason}`
      probe.leftOut.push({ name: kind.name, reason })
    }
  }
  probe.creators = probe.creators.filter((tool) => stable.has(tool))
  probe.readers = [...stable].filter((tool) => tool.kind === 'read').map((tool) => tool.spec.name)
  system.leaveOut(probe.leftOut.map((tool) => tool.name))
  return probe
}

const leavesOtherwise =
  'the same call leaves another state when repeated; if it makes up ids or times, name their properties in "ignore" of the "agoge" entry'

/** Arguments without SQL: what a statement would create is not there. */
function withoutStatements(args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isStatement = (value: unknown): boolean => typeof value === 'string' && statementStart.test(value)
  return Object.fromEntries(Object.entries(args).filter(([, value]) => !isStatement(value)))
}

function isPlain(step: RequestStep): boolean {
  return Object.keys(step.arguments).length === 0
}

/** Optional arguments of a tool without a list of choices. One of them may be the time it reports on. */
function freeOptions(tool: AdmittedTool): string[] {
  const { inputSchema } = tool.spec
  const properties = inputSchema['properties']
  if (!isPlainObject(properties)) return []
  return Object.keys(properties).filter((name) => {
    const property = properties[name]
    if (requiredOf(inputSchema).includes(name) || !isPlainObject(property)) return false
    const schema = resolveSchema(property, inputSchema)
    return !('enum' in schema) && !('const' in schema) && typeOf(schema) !== 'boolean'
  })
}
