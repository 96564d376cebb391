import type { PlainObject } from '../salient.ts'
import type { KindPlan } from '../mcp-task.ts'
import {
  attemptExamples,
  attemptKind,
  type Attempts,
  attemptTool,
  isPlainStep,
  whyNotRepeatable,
} from './attempt.ts'
import { chainsOf } from './chains.ts'
import { clockTick, initialSights, shownAgain, type Sight } from './repeatable.ts'
import { changedNothing } from '../reference.ts'
import type { AdmittedTool, LeftOutTool } from '../safety.ts'
import { statementStart } from '../arguments/sql.ts'
import { recordsOf } from '../arguments/text-records.ts'
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
    leftOut: [...(options.profile?.leftOut ?? [])],
    readers: [],
    profiles: options.profile?.profiles ?? [],
  }
  const began = performance.now()
  const limits = { signal: options.signal, seconds: options.deadlineSeconds ?? 3 }
  const on: Attempts = {
    system,
    options,
    limits,
    probe,
    found: [],
    shown: [],
    sights: [],
    before: [],
    hopeless: new Set(),
  }
  const pending = await tryTools(on, await usableTools(on))
  for (const [tool, reason] of pending)
    probe.leftOut.push({
      name: tool.spec.name,
      reason,
      // The change may show in a place that only the user knows.
      ...(reason === changedNothing ? { remedy: 'state' } : {}),
    })
  const working = on.found.map(({ kind }) => kind.tools[0])
  for (const chain of chainsOf(working, options.chains ?? 4, probe.creators)) await attemptKind(on, chain, 4)
  // For all at once: a new process takes longer to start than all calls to it.
  await system.restart()
  await clockTick(began, options.signal)
  await keepRepeatable(on)
  on.sights = await shownAgain(system, on.sights, limits)
  probe.harvest = await knownRecords(on)
  system.leaveOut(probe.leftOut.map((tool) => tool.name))
  return probe
}

/** The tools that were not left out. Where the state cannot be reset, unknown ones are tried first and may turn out to read. */
async function usableTools({ system, options, limits, probe }: Attempts): Promise<AdmittedTool[]> {
  const refused = new Set(probe.leftOut.map(({ name }) => name))
  const tools = system.tools.filter(({ spec }) => !refused.has(spec.name))
  if (system.changeable) return tools
  const { missing = 'the state cannot be reset and observed' } = options
  const trial = await tryUnknownTools(system, tools, { ...limits, seed: options.seed, missing })
  probe.leftOut.push(...trial.leftOut)
  return [...tools.filter((tool) => tool.kind !== 'unknown'), ...trial.readers]
}

/**
 * Tries the tools, each again when more is known to call it with: what creators leave, and what readers show. Returns those
 * that did not work, with the reason.
 */
async function tryTools(on: Attempts, tools: readonly AdmittedTool[]): Promise<Map<AdmittedTool, string>> {
  const { probe, found, shown, hopeless } = on
  const readers = tools.filter((tool) => tool.kind === 'read')
  const others = tools.filter((tool) => tool.kind !== 'read')
  const pending = new Map<AdmittedTool, string>()
  const go = async (some: readonly AdmittedTool[], conclude = true): Promise<void> => {
    for (const tool of some) {
      const reason = await attemptTool(on, tool, conclude)
      if (reason === undefined) pending.delete(tool)
      else pending.set(tool, reason)
    }
  }
  const isHopeful = (tool: AdmittedTool): boolean => !hopeless.has(tool.spec.name)

  // Tools that may write come first, in an initial state: those that create something can prepare states for the
  // others.
  await go(others, false)
  probe.creators = found.filter(({ draft }) => !isPlainStep(draft.steps[0])).map(({ kind }) => kind.tools[0])
  const quiet = others.filter((tool) => pending.get(tool) === changedNothing && tool.kind === 'unknown')
  await look(on, plainCalls([...readers, ...quiet]))
  probe.harvest = await knownRecords(on)
  await go(readers)
  const something = probe.creators.length + probe.harvest.length > 0
  await go(
    others.filter((tool) => pending.has(tool) && isHopeful(tool) && (something || tool.kind === 'unknown')),
  )
  // Results of reading may be arguments of other tools: the list of projects contains the ids for listing tasks.
  for (let round = 0, from = 0; round < depth && pending.size > 0; round++) {
    const fresh = shown.slice(from).flatMap(({ steps }) => (isPlainStep(steps[0]) ? [] : [steps[0]]))
    from = shown.length
    const calls = fresh.map(({ tool, arguments: args }) => ({ name: tool, arguments: args }))
    if ((await look(on, calls)).length === 0) break
    probe.harvest = await knownRecords(on)
    await go([...pending.keys()].filter(isHopeful))
  }
  for (const tool of [...pending.keys()].filter(isHopeful))
    if (tool.kind !== 'unknown' && (await attemptExamples(on, tool)) === undefined) pending.delete(tool)
  return pending
}

/** Adds what calls show in the initial state to what is known. Returns the records in it. */
async function look(on: Attempts, calls: readonly StateCall[]): Promise<PlainObject[]> {
  const sights = await initialSights(on.system, calls, on.limits)
  on.sights = [...on.sights, ...sights]
  return sights.flatMap(recordsIn)
}

/** Records that exist at first, and those that the calls so far have shown. */
async function knownRecords({ system, options, sights }: Attempts): Promise<PlainObject[]> {
  return [...(await system.records(options.signal)), ...sights.flatMap(recordsIn)].slice(0, mostRecords)
}

function recordsIn({ text, call }: Sight): PlainObject[] {
  return recordsOf(text, withoutStatements(call.arguments), call.name)
}

/** Keeps the kinds whose example gives the same again, and leaves out the tools of which none does. */
async function keepRepeatable(on: Attempts): Promise<void> {
  const { probe, found } = on
  const stable = new Set<AdmittedTool>()
  for (const example of found) {
    const { kind } = example
    const isSingle = kind.tools.length === 1
    if (!isSingle && !kind.tools.every((tool) => stable.has(tool))) continue
    const reason = await whyNotRepeatable(on, example)
    if (reason === undefined) {
      if (isSingle) stable.add(kind.tools[0])
      probe.kinds.push(kind)
    } else if (isSingle) probe.leftOut.push({ name: kind.name, reason })
  }
  probe.creators = probe.creators.filter((tool) => stable.has(tool))
  probe.readers = [...stable].filter((tool) => tool.kind === 'read').map((tool) => tool.spec.name)
}

/** Arguments without SQL: what a statement would create is not there. */
function withoutStatements(args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isStatement = (value: unknown): boolean => typeof value === 'string' && statementStart.test(value)
  return Object.fromEntries(Object.entries(args).filter(([, value]) => !isStatement(value)))
}
