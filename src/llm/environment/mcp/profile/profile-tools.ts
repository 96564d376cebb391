import { performance } from 'node:perf_hooks'
import { requiredOf } from '../arguments/schema-parts.ts'
import { filesObserver } from '../environment-config.ts'
import type { LeftOutTool } from '../safety.ts'
import type { ResetMode } from '../server/pooled-server.ts'
import type { StatePool } from '../server/state-pool.ts'
import type { Observer, ToolSystem } from '../tool-system.ts'
import { concludeTool } from './conclusions.ts'
import { chooseObservers, observerKey } from './observers.ts'
import { changedByAll, exceptFiles, exceptionsOf } from './own-files.ts'
import { type Proof, proveReaders, proveWriters } from './proofs.ts'
import { clockTick, plainCall } from './repeatable.ts'
import type { ToolExample, ToolProfile } from './tool-profile.ts'
import { soundsChanging, soundsReading } from './tool-verbs.ts'
import type { Tried } from './tried.ts'
import { tryTool } from './trying.ts'
import { CallsUsedUp, createTrying, noteLateEnd, type Trying } from './trying-state.ts'
import { addWitness } from './witnesses.ts'

export interface ProfileOptions {
  seed: number
  /** Seconds that a call may take. Default: 3. */
  deadlineSeconds?: number | undefined
  signal?: AbortSignal | undefined
  /** Most calls that are made. */
  mostCalls: number
  /** Observers that the configuration names. Empty: they are found. */
  observe: readonly string[]
  /** Whether the servers can describe their files. */
  files: boolean
  /** A service of its own behind each server. What it keeps is reset with the files, and seen with them if it is shown. */
  service?: 'shown' | 'hidden'
  /** Tools that a person allowed by name. */
  allowed: readonly string[]
  pool: Pick<StatePool, 'limit'>
  /** If it may be `restore`, that is proved, and set if it is right. */
  mode?: ResetMode
}

/** What calling the tools of a system showed. */
export interface ProfiledTools {
  profiles: readonly ToolProfile[]
  leftOut: readonly LeftOutTool[]
  observers: readonly Observer[]
  calls: number
  /** How the state is reset; `none` if a reset was tried and did not bring back the first state. */
  reset: 'restart' | 'restore' | 'none'
  /** Files that the server writes for itself, by path, with # for the numbers of those named by the time. */
  ownFiles: readonly string[]
  /** What is restored: the files of a slot, and what a service keeps. */
  kept: 'its files' | 'its files and its service'
}

/** Most calls for finding out what some number of tools do. */
export function mostProfileCalls(tools: number): number {
  return 100 + 60 * tools
}

/**
 * Calls every tool of a system with generated arguments and finds out what it does, through which tools its changes
 * show, which values are made up, and how the state is reset. The system goes by it from then on.
 */
export async function profileTools(system: ToolSystem, options: ProfileOptions): Promise<ProfiledTools> {
  const began = performance.now()
  const { mode } = options
  options.pool.limit(1)
  const trying = createTrying(system, {
    seed: options.seed,
    seconds: options.deadlineSeconds ?? 3,
    signal: options.signal,
    mostCalls: options.mostCalls,
    files: options.files,
    service: options.files && options.service === 'shown',
    records: await system.records(options.signal),
  })
  const proof: Proof = {
    usable: new Set(),
    fresh: new Map(),
    places: new Set(),
    known: new Set(),
    works: true,
    restores: false,
    dependent: new Set(),
    unproved: new Map(),
  }
  try {
    // What is kept in a service is brought back without a new process, or else the proofs show that it is not.
    if (mode !== undefined && options.service === 'shown') mode.way = 'restore'
    for (const name of options.observe) trying.witnesses.push({ name, arguments: {} })
    await tryAll(trying).catch((error: unknown) => {
      if (!(error instanceof CallsUsedUp)) throw error
    })
    // From now on, all calls may be used.
    trying.allowed = options.mostCalls
    const tried = [...trying.tried.values()]
    exceptFiles(tried, trying.witnesses, changedByAll(tried))
    await noteLateEnd(trying)
    await clockTick(began, options.signal)
    await proveWriters(trying, proof, mode)
    if (mode !== undefined && proof.restores) mode.way = 'restore'
    await proveReaders(trying)
  } catch (error) {
    if (!(error instanceof CallsUsedUp)) throw error
  } finally {
    options.pool.limit(Infinity)
    if (mode !== undefined) mode.way = proof.works && proof.restores ? 'restore' : 'restart'
  }
  const entries = [...trying.tried.values()]
  const writers = entries.filter(({ changed, tool }) => changed > 0 && !proof.unproved.has(tool.spec.name))
  const declared = options.observe.map((name): Observer => ({ name, arguments: {} }))
  const found =
    declared.length > 0 ? declared : chosen(writers, trying.witnesses, proof, options.service === 'shown')
  const observers = proof.works ? found : []
  const concluded = entries.map((entry) =>
    concludeTool(entry, {
      proof,
      observers,
      allowed: options.allowed.includes(entry.tool.spec.name),
      declared: options.observe.includes(entry.tool.spec.name),
      seconds: options.deadlineSeconds ?? 3,
      usedUp: trying.calls > options.mostCalls ? options.mostCalls : undefined,
    }),
  )
  system.conclude({
    kinds: new Map(
      concluded.flatMap(({ profile, kind }) => (kind === undefined ? [] : [[profile.name, kind] as const])),
    ),
    observers,
    generated: {
      places: proof.places,
      known: proof.known,
    },
  })
  return {
    profiles: concluded.map(({ profile }) => profile),
    leftOut: concluded.flatMap(({ leftOut }) => leftOut ?? []),
    observers,
    calls: Math.min(trying.calls, options.mostCalls),
    reset: proof.works ? (mode?.way ?? 'restart') : 'none',
    ownFiles: trying.witnesses.filter(({ name }) => name === filesObserver).flatMap(exceptionsOf),
    kept: options.service !== undefined ? 'its files and its service' : 'its files',
  }
}

function chosen(
  writers: readonly Tried[],
  witnesses: readonly Observer[],
  proof: Proof,
  service: boolean,
): Observer[] {
  const look = (observer: Observer): string | undefined => proof.fresh.get(observerKey(observer))
  return chooseObservers(writers, witnesses, proof.usable, look, service)
}

const rounds = 3

/** Tries the tools that need no arguments, then all others, again after something was created. */
async function tryAll(trying: Trying): Promise<void> {
  const entries = [...trying.tried.values()]
  const needless = entries.filter(({ tool }) => plainCall(tool) !== undefined).toSorted(byTrust)
  for (const entry of needless) {
    await tryTool(trying, entry, 1, 0)
    if (entry.examples.length > 0) addWitness(trying, entry, {})
  }
  // Among them tools whose arguments are all optional, if they refuse a call without any.
  const demanding = entries.filter(
    ({ tool, succeeded }) => requiredOf(tool.spec.inputSchema).length > 0 || succeeded === 0,
  )
  for (let round = 0; round < rounds; round++) {
    const before = progress(entries)
    for (const entry of demanding) {
      if (settled(entry)) continue
      const from = plainCall(entry.tool) === undefined ? round * 8 : round * 8 + 1
      await tryTool(trying, entry, round === 0 ? 3 : 5, from)
      const example = entry.examples.toSorted(bySimplicity).at(0)
      if (example !== undefined && entry.tool.kind !== 'write') addWitness(trying, entry, example.arguments)
    }
    // What changed nothing in the first state may do so now: clear a list, undo a step.
    for (const entry of needless)
      if (entry.tool.kind !== 'read' && !demanding.includes(entry) && !settled(entry))
        await tryTool(trying, entry, 2, round * 8 + 1)
    if (entries.every(settled) || (round > 0 && progress(entries) === before)) break
  }
}

/** Examples that work in the first state, and those with few arguments, show most. */
function bySimplicity(left: ToolExample, right: ToolExample): number {
  const size = ({ arguments: args }: ToolExample): number => Object.keys(args).length
  return left.seeds.length - right.seeds.length || size(left) - size(right)
}

function progress(entries: readonly Tried[]): number {
  return entries.reduce((sum, { succeeded }) => sum + Number(succeeded > 0), 0)
}

function settled({ changed, succeeded, tool, hopeless, slow, died }: Tried): boolean {
  // A tool that sounds as if it changed something gets more chances to do so.
  const enough = tool.kind === 'read' ? 2 : soundsChanging(tool.spec.name) ? 12 : 5
  return hopeless !== undefined || slow > 1 || died > 1 || changed > 1 || succeeded >= enough
}

/** Tools that are marked as reading first, then those whose names say so. */
function byTrust(left: Tried, right: Tried): number {
  const rank = ({ tool }: Tried): number => {
    if (tool.kind === 'read') return 0
    return soundsReading(tool.spec.name) ? 1 : 2
  }
  return rank(left) - rank(right)
}
