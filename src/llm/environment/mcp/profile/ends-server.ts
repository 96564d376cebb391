import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { AgogeError } from '../../../../error.ts'
import { InfrastructureError } from '../../../tool/tool.ts'
import { newState, SlowCall, type StateCallOptions } from '../server/state-pool.ts'
import type { ToolSystem } from '../tool-system.ts'

/** A call that was made, and when by `performance.now()`. */
export interface PastCall {
  name: string
  arguments: Record<string, unknown>
  at: number
}

/** Milliseconds that a server which ends after its answer has at least to do so. */
const shortest = 100
const longest = 3000

/**
 * Milliseconds in which a server that was ended by a call is gone, when a later call has just failed because of it: twice the time
 * that has passed since that call, so that it holds on a busy machine too.
 */
function timeToEnd({ at }: PastCall): number {
  return Math.min(longest, shortest + 2 * (performance.now() - at))
}

/** Tools that are tried alone. */
const mostSuspects = 4

/**
 * The tool that ended the server, so that a call of it or of a later tool failed. Undefined if none ends it when no other is called.
 *
 * @param suspects the last call of each tool in the process that was lost, the last one first.
 * @param onCalls receives how many calls are about to be made.
 * @throws what is no fault of the server.
 */
export async function whoEndsServer(
  system: ToolSystem,
  suspects: readonly PastCall[],
  options: StateCallOptions,
  onCalls: (count: number) => void = () => {},
): Promise<string | undefined> {
  const some = suspects.slice(0, mostSuspects).map((call) => ({ call, within: timeToEnd(call) }))
  for (const { call, within } of some) {
    onCalls(2)
    if (await endsServer(system, call, within, options)) return call.name
  }
  return undefined
}

/** Whether a call ends a new process of the server. It is made twice, since the server may also end after its answer. */
async function endsServer(
  system: ToolSystem,
  { name, arguments: args }: PastCall,
  milliseconds: number,
  options: StateCallOptions,
): Promise<boolean> {
  // A process that another tool is about to end would speak against this one.
  await system.restart()
  const state = newState()
  try {
    await system.look(state, name, args, options)
    await wait(milliseconds)
    await system.look(state, name, args, options)
  } catch (error) {
    return !(serverFault(error, options.signal) instanceof SlowCall)
  }
  return false
}

/** The error as a fault of the server. @throws any other. */
export function serverFault(error: unknown, signal: AbortSignal | undefined): InfrastructureError {
  if (signal?.aborted === true || AgogeError.isInstance(error)) throw error
  if (error instanceof InfrastructureError) return error
  throw error
}

/** The reason for leaving out a tool in whose call the server failed; with `alone`, the same in a call where no other was made. */
export function serverFailed({ message }: Error, alone = false): string {
  return `the server failed${alone ? ' in 2 calls of it' : ''}: ${message}`
}
