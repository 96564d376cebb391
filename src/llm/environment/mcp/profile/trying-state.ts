import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import type { InfrastructureError, ToolResult } from '../../../tool/tool.ts'
import { filesObserver } from '../environment-config.ts'
import type { PlainObject } from '../salient.ts'
import { type EpisodeState, newState, SlowCall } from '../server/state-pool.ts'
import type { Observer, ToolSystem } from '../tool-system.ts'
import { type PastCall, serverFault, whoEndsServer } from './ends-server.ts'
import type { ToolExample } from './tool-profile.ts'
import { type Tried, untried } from './tried.ts'

export interface TryingOptions {
  seed: number
  seconds: number
  signal: AbortSignal | undefined
  mostCalls: number
  /** Whether the servers can describe their files. */
  files: boolean
  /** Whether they describe a service behind them too, which keeps their state. */
  service: boolean
  /** Records that are there at first, whatever the tools show. */
  records: readonly PlainObject[]
}

/** Thrown when the calls for trying the tools are used up. */
export class CallsUsedUp extends Error {}

/** Share of the calls for finding arguments; the others prove what was found. */
const shareOfTrying = 0.6

/** The trying of the tools of a system: one state that goes on, what was seen in it, and what each tool has shown. */
export interface Trying {
  readonly system: ToolSystem
  readonly options: TryingOptions
  readonly tried: ReadonlyMap<string, Tried>
  /** What is looked at after each call: the files of the slot, and tools that are believed to read. */
  readonly witnesses: Observer[]
  /** Keys of the witnesses that change by calls alone. */
  readonly steady: Set<string>
  state: EpisodeState
  /** The calls that changed the state. */
  seeds: ToolExample['seeds'][number][]
  /** What the witnesses show now; undefined if that is not known. */
  sights: string[] | undefined
  /** How much the witnesses showed before the state was changed. */
  fullness: number
  /** Records that were given to tools or returned by them in this state. */
  recent: PlainObject[]
  calls: number
  /** The last call of each tool since a process of the server was last lost; the last one last. */
  called: Map<string, PastCall>
  /** Calls that may be made. Proofs need calls too: trying may not use up all of them. */
  allowed: number
}

export function createTrying(system: ToolSystem, options: TryingOptions): Trying {
  return {
    system,
    options,
    tried: new Map(system.tools.map((tool) => [tool.spec.name, untried(tool)])),
    witnesses: options.files ? [{ name: filesObserver, arguments: {} }] : [],
    steady: new Set(),
    state: newState(),
    seeds: [],
    sights: undefined,
    fullness: 0,
    recent: [],
    calls: 0,
    called: new Map(),
    allowed: options.mostCalls * shareOfTrying,
  }
}

/** From now on, tries in a fresh state. */
export function beginState(trying: Trying): void {
  Object.assign(trying, { state: newState(), seeds: [], sights: undefined, recent: [] })
}

function spend(trying: Trying, count: number): void {
  trying.calls += count
  if (trying.calls > trying.allowed) throw new CallsUsedUp()
}

/** What each of the observers shows in a state. @throws CallsUsedUp */
export async function lookAt(
  trying: Trying,
  state: EpisodeState,
  observers: readonly Observer[],
): Promise<string[]> {
  const { system, options } = trying
  const tools = observers.filter(({ name }) => name !== filesObserver)
  spend(trying, tools.length)
  for (const { name, arguments: args } of tools) noteCall(trying, name, args)
  const look = async (at: readonly Observer[]): Promise<string[]> =>
    (await system.sights(state, at, options)).map(({ text }) => text)
  const texts = await look(tools)
  // The files come last: what a server makes when it is first called is not what the next call changes.
  const at = observers.findIndex(({ name }) => name === filesObserver)
  return at < 0 ? texts : texts.toSpliced(at, 0, ...(await look([observers[at]])))
}

/** Calls a tool in a state. @throws CallsUsedUp */
export async function callTool(
  trying: Trying,
  state: EpisodeState,
  name: string,
  args: Record<string, unknown>,
): Promise<ToolResult> {
  spend(trying, 1)
  noteCall(trying, name, args)
  return trying.system.look(state, name, args, trying.options)
}

function noteCall({ called }: Trying, name: string, args: Record<string, unknown>): void {
  called.delete(name)
  called.set(name, { name, arguments: args, at: performance.now() })
}

/** Records a fault of the server. The state is lost with the process. Rethrows what is no fault of it. */
export async function noteFault(trying: Trying, entry: Tried, error: unknown): Promise<void> {
  const fault = faultOf(trying, error)
  if (fault instanceof SlowCall) entry.slow++
  else {
    const suspects = [...trying.called.values()].toReversed()
    trying.called.clear()
    const culprit =
      suspects.length > 1
        ? await whoEndsServer(trying.system, suspects, trying.options, (count) => spend(trying, count))
        : suspects.at(0)?.name
    const blamed = (culprit === undefined ? undefined : trying.tried.get(culprit)) ?? entry
    // One that ended the server in a call of another did so again when it was alone.
    if (culprit !== undefined) blamed.died += blamed === entry ? 1 : 2
    // Where no tool ends the server by itself, it is the order of calls, or chance: some of that is let pass.
    else if (++blamed.lost > mostLost) blamed.died++
    blamed.error = fault.message
  }
  trying.called.clear()
  beginState(trying)
}

/** Milliseconds after the last call in which a server that was ended by one of the last calls is gone. */
const lateEnd = 300

/** Notes if one of the last calls ended the server when nothing else was called, which no later call in a fresh state would show. */
export async function noteLateEnd(trying: Trying): Promise<void> {
  const last = [...trying.called.values()].at(-1)
  const entry = last === undefined ? undefined : trying.tried.get(last.name)
  if (last === undefined || entry === undefined) return
  const { signal } = trying.options
  await wait(lateEnd, undefined, signal === undefined ? {} : { signal })
  try {
    await callTool(trying, trying.state, last.name, last.arguments)
  } catch (error) {
    await noteFault(trying, entry, error)
  }
}

/** The error as a fault of the server. Rethrows any other. */
function faultOf({ options }: Trying, error: unknown): InfrastructureError {
  if (error instanceof CallsUsedUp) throw error
  return serverFault(error, options.signal)
}

/** Processes that may be lost in calls of a tool which does not end the server when it is called alone. */
const mostLost = 3
