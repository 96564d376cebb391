import { performance } from 'node:perf_hooks'
import { InfrastructureError } from '../../../tool/tool.ts'
import { createRandom } from '../../../../engine/random/index.ts'
import { recordsOf } from '../arguments/text-records.ts'
import { draftTask } from '../mcp-task.ts'
import type { PlainObject } from '../salient.ts'
import { type PastCall, serverFailed, serverFault, whoEndsServer } from './ends-server.ts'
import {
  answersOtherwise,
  normaliseObservation,
  plainCall,
  repeatableSights,
  type Sight,
  tellsTime,
  timelessLines,
} from './repeatable.ts'
import type { AdmittedTool, LeftOutTool } from '../safety.ts'
import { UnusableSchema } from '../arguments/schema-parts.ts'
import { newState, SlowCall } from '../server/state-pool.ts'
import type { EpisodeState, StateCall } from '../server/state-pool.ts'
import type { ToolSystem } from '../tool-system.ts'

export interface TrialOptions {
  seed: number
  signal?: AbortSignal | undefined
  /** Seconds for one call. */
  seconds: number
  /** What is missing for tasks that change the state, as a clause. */
  missing: string
}

export interface Trial {
  /** The tools that count as reading. */
  readers: AdmittedTool[]
  leftOut: LeftOutTool[]
}

const attempts = 12
/** Successful calls after which a tool that changed nothing counts as reading. */
const enough = 5

/**
 * Tries the tools of unknown kind when the state cannot be reset or observed. A tool counts as reading if the reading
 * tools show the same before and after it, and the same call repeats its result. Restarts the servers at the end.
 *
 * @param usable the tools that were not left out.
 */
export async function tryUnknownTools(
  system: ToolSystem,
  usable: readonly AdmittedTool[],
  options: TrialOptions,
): Promise<Trial> {
  const trial: Trial = { readers: [], leftOut: [] }
  const trying: TrialState = { system, options, trial, before: [] }
  const unknown = usable.filter((tool) => tool.kind === 'unknown')
  const plain = unknown.filter((tool) => plainCall(tool) !== undefined)
  const reads = usable.filter((tool) => tool.kind === 'read')
  // Tools without required arguments come first: they may show what the others change, and give values for arguments.
  for (const tools of [plain, unknown.filter((tool) => !plain.includes(tool))]) {
    if (tools.length === 0) continue
    const witnesses = await repeatableSights(system, plainCalls([...reads, ...trial.readers]), options)
    const harvest = witnesses.flatMap(({ text, call }) => recordsOf(text, call.arguments, call.name))
    for (const tool of tools) {
      const shown: string[] = []
      const left = await tryTool(trying, tool, witnesses, { harvest, shown })
      if (left !== undefined) trial.leftOut.push({ name: tool.spec.name, ...left })
      else {
        trial.readers.push({ ...tool, kind: 'read' })
        // Its results may be arguments of the tools after it.
        harvest.push(...shown.flatMap((text) => recordsOf(text, {}, tool.spec.name)))
      }
    }
  }
  if (unknown.length > 0) await system.restart()
  return trial
}

export function plainCalls(tools: readonly AdmittedTool[]): StateCall[] {
  return tools.flatMap((tool) => plainCall(tool) ?? [])
}

interface TrialState {
  system: ToolSystem
  options: TrialOptions
  trial: Trial
  /** The last call of each tool since a process of the server was last lost, the last one first. */
  before: readonly PastCall[]
}

/** Does it again if the server was ended by an earlier tool after its answer, and leaves that one out. */
async function sparing<T>(on: TrialState, call: PastCall, work: () => Promise<T>): Promise<T> {
  const { system, options, trial, before } = on
  on.before = [call, ...before.filter(({ name }) => name !== call.name)]
  try {
    return await work()
  } catch (error) {
    const fault = serverFault(error, options.signal)
    if (fault instanceof SlowCall) throw fault
    on.before = []
    const culprit = await whoEndsServer(system, [call, ...before], options)
    if (culprit === call.name) throw fault
    if (culprit !== undefined) {
      trial.readers = trial.readers.filter(({ spec }) => spec.name !== culprit)
      trial.leftOut.push({ name: culprit, reason: serverFailed(fault, true) })
    }
    return work()
  }
}

type TrialResult = Omit<LeftOutTool, 'name'>

/** Returns undefined if the tool counts as reading. */
async function tryTool(
  trying: TrialState,
  tool: AdmittedTool,
  witnesses: readonly Sight[],
  { harvest, shown }: { harvest: readonly PlainObject[]; shown: string[] },
): Promise<TrialResult | undefined> {
  const { options } = trying
  const { name } = tool.spec
  let result: TrialResult = { reason: 'no arguments were found for which it does anything' }
  let unchanged = 0
  for (let index = 0; index < attempts && unchanged < enough; index++) {
    const random = createRandom(options.seed, 'trial', name, index)
    try {
      const draft = draftTask({ name, tools: [tool] }, 'train', { creators: [], harvest }, random)
      const call = { name, arguments: draft.steps[0].arguments, at: performance.now() }
      const found = await sparing(trying, call, () =>
        tryCall(trying.system, call.arguments, name, witnesses, options),
      )
      if (typeof found === 'string') {
        unchanged++
        shown.push(found)
      } else if (found.remedy === 'state') return found
      else result = found
    } catch (error) {
      if (error instanceof UnusableSchema) return { reason: `its schema cannot be used: ${error.message}` }
      if (options.signal?.aborted === true || !(error instanceof InfrastructureError)) throw error
      return { reason: error instanceof SlowCall ? error.message : serverFailed(error) }
    }
  }
  return unchanged > 0 ? undefined : result
}

/** Makes a call twice. Returns the result if both agree and no change was observed. */
async function tryCall(
  system: ToolSystem,
  args: Record<string, unknown>,
  name: string,
  witnesses: readonly Sight[],
  { missing, ...limits }: TrialOptions,
): Promise<TrialResult | string> {
  const state = newState()
  const before = await witnessed(system, state, witnesses, limits)
  const first = await system.look(state, name, args, limits)
  if (first.isError) return { reason: `the call failed: ${first.text}` }
  // A tool that fails sometimes gets a few tries. A tool that changed something fails each time.
  let second = await system.look(state, name, args, limits)
  for (let tries = 1; tries < 3 && second.isError; tries++)
    second = await system.look(state, name, args, limits)
  const after = await witnessed(system, state, witnesses, limits)
  const changed = witnesses.find((_, index) => before[index] !== after[index])
  if (changed !== undefined)
    return { reason: `it changes what ${changed.call.name} shows, and ${missing}`, remedy: 'state' }
  const plain = (text: string): string =>
    normaliseObservation(timelessLines(text, JSON.stringify(args)), system.ignore)
  if (!second.isError && plain(first.text) === plain(second.text)) return first.text
  if (tellsTime(first.text, JSON.stringify(args))) return { reason: answersOtherwise }
  return { reason: `${answersOtherwise}, so it may change something, and ${missing}`, remedy: 'state' }
}

async function witnessed(
  system: ToolSystem,
  state: EpisodeState,
  witnesses: readonly Sight[],
  limits: { signal?: AbortSignal | undefined; seconds: number },
): Promise<string[]> {
  const seen: string[] = []
  for (const { call } of witnesses) {
    const result = await system.look(state, call.name, call.arguments, limits)
    seen.push(normaliseObservation(result.text, system.ignore))
  }
  return seen
}
