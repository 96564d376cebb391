import { performance } from 'node:perf_hooks'
import { AgogeError } from '../../../../error.ts'
import { createRandom } from '../../../../engine/random/index.ts'
import { requiredOf, resolveSchema, typeOf, UnusableSchema } from '../arguments/schema-parts.ts'
import { isAskable } from '../goals/questions.ts'
import { type Draft, draftTask, type KindPlan } from '../mcp-task.ts'
import { changedNothing, type ReferenceRun, runReference } from '../reference.ts'
import type { RequestStep } from '../request/step-words.ts'
import type { AdmittedTool } from '../safety.ts'
import { isPlainObject, whyNothingSalient } from '../salient.ts'
import { SlowCall, StateNotMade } from '../server/state-pool.ts'
import type { ToolSystem } from '../tool-system.ts'
import { type PastCall, serverFailed, serverFault, whoEndsServer } from './ends-server.ts'
import { answersOtherwise, normaliseObservation, type Sight, tellsTime, timelessLines } from './repeatable.ts'
import type { Probe, ProbeOptions } from './tool-probing.ts'

type Success = ReferenceRun & { ok: true }

/** The trying of kinds of tasks, as far as it has come. */
export interface Attempts {
  readonly system: ToolSystem
  readonly options: ProbeOptions
  readonly limits: { signal: AbortSignal | undefined; seconds: number }
  readonly probe: Probe
  /** Kinds of which an example worked. */
  readonly found: { kind: KindPlan; draft: Draft; run: Success }[]
  /** Calls that read something, by any tool. */
  readonly shown: Draft[]
  /** What reading calls showed in the initial state. */
  sights: readonly Sight[]
  /** The last call of each tool since a process of the server was last lost, the last one first. */
  before: readonly PastCall[]
  /** Kinds that are broken, slow or have impossible schemas. Other arguments would not help. */
  readonly hopeless: Set<string>
}

const singleKind = (tool: AdmittedTool): KindPlan => ({ name: tool.spec.name, tools: [tool] })

export function isPlainStep(step: RequestStep): boolean {
  return Object.keys(step.arguments).length === 0
}

/** Draws and tries a kind up to 12 times, until it works. Returns why it does not, or undefined. */
export async function attemptKind(on: Attempts, kind: KindPlan, tries = 12): Promise<string | undefined> {
  const drafts = Array.from({ length: tries }, (_, index) => (): Draft => {
    const random = createRandom(on.options.seed, 'probe', kind.name, index)
    return draftTask(kind, 'train', on.probe, random)
  })
  return attemptDrafts(on, kind, drafts)
}

/** Tries the calls of a tool that succeeded when it was profiled, with those that had prepared the state. */
export async function attemptExamples(on: Attempts, tool: AdmittedTool): Promise<string | undefined> {
  const { name } = tool.spec
  const kind = singleKind(tool)
  const { examples = [] } = on.probe.profiles.find((profile) => profile.name === name) ?? {}
  const drafts = examples.map(({ arguments: args, seeds }) => (): Draft => {
    const before = seeds.map((seed) => ({ name: seed.name, arguments: seed.arguments }))
    return { kind, seeds: before, steps: [{ tool: name, arguments: args }] }
  })
  return attemptDrafts(on, kind, drafts)
}

async function attemptDrafts(
  on: Attempts,
  kind: KindPlan,
  drafts: readonly (() => Draft)[],
): Promise<string | undefined> {
  let reason = 'no arguments were found for which it does anything'
  let unchanged = 0
  for (const draft of drafts) {
    try {
      const failed = await attemptDraft(on, kind, draft())
      if (failed === undefined) return undefined
      reason = failed
      if (reason === changedNothing) unchanged++
    } catch (error) {
      if (on.options.signal?.aborted === true || AgogeError.isInstance(error)) throw error
      if (error instanceof StateNotMade) {
        reason = error.message
        continue
      }
      on.hopeless.add(kind.name)
      if (error instanceof UnusableSchema) return `its schema cannot be used: ${error.message}`
      return error instanceof SlowCall ? error.message : serverFailed(error as Error)
    }
  }
  return unchanged > 0 ? changedNothing : reason
}

async function attemptDraft(on: Attempts, kind: KindPlan, draft: Draft): Promise<string | undefined> {
  const { system, shown, found } = on
  const run = await patiently(on, draft)
  if (!run.ok) return run.reason
  const anchored = await anchor(on, kind, draft, run)
  if (anchored === undefined) return answersOtherwise
  const last = kind.tools[kind.tools.length - 1]
  const result = run.results[run.results.length - 1]
  const few = shown.filter((other) => other.kind.name === kind.name).length < 3
  if (kind.tools.length === 1 && last.kind === 'read' && few) shown.push(draft)
  if (last.kind === 'read' && !isAskable(result, system.ignore))
    return whyNothingSalient(result, system.resultLimit)
  found.push({ kind: anchored, draft, run })
  return undefined
}

/** A tool of unknown kind is tried as one that writes. If it never changes anything, it counts as reading. */
export async function attemptTool(
  on: Attempts,
  tool: AdmittedTool,
  conclude: boolean,
): Promise<string | undefined> {
  if (tool.kind !== 'unknown') return attemptKind(on, singleKind(tool))
  const tries = conclude ? 8 : 4
  const reason = await attemptKind(on, singleKind({ ...tool, kind: 'write' }), tries)
  return reason === changedNothing && conclude
    ? attemptKind(on, singleKind({ ...tool, kind: 'read' }))
    : reason
}

/** Why the example of a kind is not the same when repeated; undefined if it is. */
export async function whyNotRepeatable(
  on: Attempts,
  { kind, draft, run }: Attempts['found'][number],
): Promise<string | undefined> {
  const again = await repeat(on, draft)
  if (!again.ok) return `the same call fails when repeated: ${again.reason}`
  if (again.after !== run.after) return leavesOtherwise
  return answers(on, kind, draft, again).join('\n') === answers(on, kind, draft, run).join('\n')
    ? undefined
    : answersOtherwise
}

const leavesOtherwise =
  'the same call leaves another state when repeated; if it makes up ids or times, name their properties in "ignore" of the "agoge" entry'

/** A busy machine may stall once: a slow tool is slow twice. And the server may have been ended by an earlier tool, after its answer. */
async function patiently(on: Attempts, draft: Draft): Promise<ReferenceRun> {
  const { system, limits, before } = on
  const [{ tool: name, arguments: args }] = draft.steps.slice(-1)
  const call = { name, arguments: args, at: performance.now() }
  on.before = [call, ...before.filter((each) => each.name !== name)]
  try {
    return await runReference(system, draft, limits)
  } catch (error) {
    if (error instanceof StateNotMade) throw error
    const fault = serverFault(error, limits.signal)
    if (!(fault instanceof SlowCall)) {
      on.before = []
      const culprit = await whoEndsServer(system, [call, ...before], limits)
      if (culprit === name) throw fault
      if (culprit !== undefined) leaveOut(on, culprit, fault)
    }
    return runReference(system, draft, limits)
  }
}

/** Leaves out a tool that ends the server after its answer, and what was found with it. */
function leaveOut({ found, hopeless, probe }: Attempts, name: string, fault: Error): void {
  if (hopeless.has(name)) return
  hopeless.add(name)
  for (const each of found.filter(({ kind }) => kind.tools.some(({ spec }) => spec.name === name)))
    found.splice(found.indexOf(each), 1)
  probe.leftOut.push({ name, reason: serverFailed(fault, true) })
}

/** Repeats the call. A tool that fails sometimes differs from one whose answers vary, so it gets a few tries. */
async function repeat(on: Attempts, draft: Draft): Promise<ReferenceRun> {
  let again: ReferenceRun = { ok: false, reason: 'it was not tried' }
  for (let tries = 0; tries < 3 && !again.ok; tries++)
    try {
      again = await patiently(on, draft)
    } catch (error) {
      if (on.options.signal?.aborted === true || AgogeError.isInstance(error)) throw error
      again = { ok: false, reason: (error as Error).message }
      if (!(error instanceof StateNotMade)) return again
    }
  return again
}

/**
 * Results of the reading tools of a kind, without lines that tell the time. Results of writing tools may vary, because
 * the state is judged.
 */
function answers({ system }: Attempts, kind: KindPlan, draft: Draft, { results }: Success): string[] {
  return results
    .filter((_, index) => kind.tools[index].kind === 'read')
    .map((text) => timelessLines(text, JSON.stringify(draft.steps)))
    .map((text) => normaliseObservation(text, system.ignore))
}

function tells(on: Attempts, kind: KindPlan, draft: Draft, run: Success): boolean {
  return answers(on, kind, draft, run).some((text) => tellsTime(text, JSON.stringify(draft.steps)))
}

/**
 * Returns the kind of a draft whose result does not depend on the current time, with the optional argument that fixes
 * the time, if there is one. Returns undefined if the result depends on the current time: a task can ask for a given
 * date, but not for now.
 */
async function anchor(
  on: Attempts,
  kind: KindPlan,
  draft: Draft,
  run: Success,
): Promise<KindPlan | undefined> {
  if (tells(on, kind, draft, run)) return undefined
  const [tool] = kind.tools
  const [step] = draft.steps
  if (kind.tools.length > 1 || tool.kind !== 'read') return kind
  const optional = freeOptions(tool).filter((name) => name in step.arguments)
  const required = requiredOf(tool.spec.inputSchema)
  const speaks = async (names: readonly unknown[]): Promise<boolean> => {
    const given = Object.entries(step.arguments).filter(([name]) => names.includes(name))
    const less = { ...draft, steps: [{ ...step, arguments: Object.fromEntries(given) }] }
    const other = await patiently(on, less)
    return other.ok && tells(on, kind, less, other)
  }
  if (Object.keys(step.arguments).every((name) => required.includes(name))) return kind
  if (!(await speaks(required))) return kind
  for (const name of optional) if (!(await speaks([...required, name]))) return { ...kind, anchor: name }
  return undefined
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
