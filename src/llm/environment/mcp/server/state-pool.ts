import { defined } from '../../../../defined.ts'
import {
  InfrastructureError,
  type Toolbox,
  type ToolCallOptions,
  type ToolResult,
} from '../../../tool/tool.ts'
import { manyWaiters, pausableDeadline } from '../../../tool/waiting.ts'
import type { PlainObject } from '../salient.ts'

/** One copy of the system behind the tools, whose state can be reset. */
export interface StateServer {
  toolbox: Toolbox
  reset(signal?: AbortSignal): Promise<void>
  /** Returns the state as a value, if that is cheap. Without it, a state is recreated by repeating its calls. */
  snapshot?: (() => Promise<unknown>) | undefined
  restore?: ((snapshot: unknown) => Promise<void>) | undefined
  /** Returns the current state as comparable text. */
  describe?: (() => Promise<string>) | undefined
  /** Records that exist now: of a service behind it, and the files of its working directory. */
  records?: (() => Promise<PlainObject[]>) | undefined
  close(): Promise<void>
}

export interface StateCall {
  name: string
  arguments: Record<string, unknown>
  /**
   * Whether the call returned an error. Default: false. When the call is repeated, the outcome must be the same;
   * otherwise the state would differ.
   */
  isError?: boolean
}

interface Waiter {
  state: EpisodeState
  give: (member: Member) => void
  refuse: (reason: unknown) => void
}

/**
 * An episode's private state: the calls that produced it. The journal contains only calls that may change the state.
 */
export interface EpisodeState {
  journal: StateCall[]
  snapshot?: { at: number; value: unknown }
  /**
   * Number of calls at the start of the journal that prepare the state. If one of them fails, the environment is at
   * fault.
   */
  seeds: number
}

export interface StatePoolOptions {
  size: number
  open(index: number, signal?: AbortSignal): Promise<StateServer>
  /** True for tools that may change the state. */
  writes(tool: string): boolean
}

export interface StateCallOptions {
  signal?: AbortSignal | undefined
  /** Seconds for the call itself, without waiting, starting a server or restoring the state. */
  seconds?: number | undefined
  onWait?: ToolCallOptions['onWait']
}

/** A call that exceeded its time limit. */
export class SlowCall extends InfrastructureError {}

/** A state that could not be recreated: a preparing call failed, or a repeated call had another outcome. */
export class StateNotMade extends InfrastructureError {}

export interface StatePool {
  /** Calls a tool in the state of the episode. Only later calls with the same state see its changes. */
  call(
    state: EpisodeState,
    name: string,
    args: Record<string, unknown>,
    options?: StateCallOptions,
  ): Promise<ToolResult>
  /** Returns the state of the episode as text, if the servers can describe theirs. */
  describe(state: EpisodeState, signal?: AbortSignal): Promise<string>
  /** Records that exist in this state, as far as the servers can tell without a call. */
  records(state: EpisodeState, signal?: AbortSignal): Promise<PlainObject[]>
  /** Closes the idle servers that may be used, and then starts the first anew. Calls open the others. */
  restart(): Promise<void>
  /** Starts so many servers before they are needed, one after the other, beyond the limit too. */
  open(servers: number): void
  /** From now on, uses at most this many servers. */
  limit(servers: number): void
  close(): Promise<void>
}

interface Member {
  index: number
  server: StateServer | undefined
  /** The journal that the server's current state corresponds to. */
  journal: readonly StateCall[]
  /** Whether nothing was called since the server was started early. */
  isNew: boolean
}

/** Equal to no journal of an episode, and the beginning of none. */
const unknownState: readonly StateCall[] = [{ name: '', arguments: { state: 'unknown' } }]

export function newState(seeds: readonly StateCall[] = []): EpisodeState {
  return { journal: [...seeds], seeds: seeds.length }
}

/**
 * Gives any number of open episodes a private state over a few servers. Before a call the server is brought to the
 * episode's state: nothing to do if it is already there; otherwise a snapshot is restored, or the server is reset and
 * the journal repeated. A failed server is replaced, and no episode loses its state.
 */
export function createStatePool(options: StatePoolOptions): StatePool {
  const members: Member[] = Array.from({ length: Math.max(1, options.size) }, (_, index) => ({
    index,
    server: undefined,
    journal: [],
    isNew: false,
  }))
  const idle = [...members]
  const waiting: Waiter[] = []
  const starting = new Set<Promise<void>>()
  /** Servers that are started before they are needed. */
  let early = 0
  let closed = false
  let usable = members.length

  async function take(state: EpisodeState, signal?: AbortSignal): Promise<Member> {
    const free = idle.filter(({ index }) => index < usable)
    const best =
      free.find((member) => member.server !== undefined && sameCalls(member.journal, state.journal)) ??
      free.find((member) => member.server === undefined) ??
      free.at(0)
    if (best === undefined) return queue(state, signal)
    idle.splice(idle.indexOf(best), 1)
    return best
  }

  /** An aborted waiter leaves the queue, so that no server is assigned to it. */
  function queue(state: EpisodeState, signal?: AbortSignal): Promise<Member> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        waiting.splice(waiting.indexOf(entry), 1)
        reject(signal?.reason)
      }
      const settled = (): void => signal?.removeEventListener('abort', abort)
      const entry: Waiter = {
        state,
        give(member) {
          settled()
          resolve(member)
        },
        refuse(reason) {
          settled()
          reject(reason)
        },
      }
      manyWaiters(signal)
      signal?.addEventListener('abort', abort, { once: true })
      waiting.push(entry)
    })
  }

  function giveBack(member: Member): void {
    if (member.index >= usable) {
      idle.push(member)
      return
    }
    // Continuing from the server's current state saves a reset, but no waiter is passed over for long.
    const near = waiting.slice(0, 8).findIndex((entry) => sameCalls(member.journal, entry.state.journal))
    const [next] = waiting.splice(Math.max(near, 0), 1)
    if (next === undefined) idle.push(member)
    else next.give(member)
  }

  async function prepare(member: Member, state: EpisodeState, signal?: AbortSignal): Promise<StateServer> {
    member.server ??= await options.open(member.index, signal)
    member.isNew = false
    const server = member.server
    if (closed) throw environmentClosed()
    if (sameCalls(member.journal, state.journal)) return server
    let done = 0
    if (state.snapshot !== undefined && server.restore !== undefined) {
      await server.restore(state.snapshot.value)
      done = state.snapshot.at
    } else if (
      member.journal.length < state.journal.length &&
      sameCalls(member.journal, state.journal.slice(0, member.journal.length))
    ) {
      done = member.journal.length
    } else {
      await server.reset(signal)
    }
    member.journal = state.journal.slice(0, done)
    for (; done < state.journal.length; done++) {
      const { name, arguments: args, isError = false } = state.journal[done]
      const result = await server.toolbox.call(name, args, signal === undefined ? {} : { signal })
      if (result.isError && done < state.seeds) {
        throw new StateNotMade(`setting up the initial state failed: ${name}: ${result.text}`)
      }
      if (result.isError !== isError) {
        throw new StateNotMade(`a call of the episode was answered otherwise when repeated: ${name}`)
      }
      member.journal = state.journal.slice(0, done + 1)
    }
    if (server.snapshot !== undefined && state.snapshot?.at !== done) {
      state.snapshot = { at: done, value: await server.snapshot() }
    }
    return server
  }

  async function discard(member: Member): Promise<void> {
    const { server } = member
    Object.assign(member, { server: undefined, journal: [], isNew: false })
    await server?.close()
  }

  /** Starts servers one after the other, so that calls go on. If one fails, the first call of it tries again and says why. */
  function startEarly(): void {
    const start = startEach().finally(() => starting.delete(start))
    starting.add(start)
  }

  async function startEach(): Promise<void> {
    for (const member of members.slice(0, early)) {
      if (closed || member.server !== undefined || !idle.includes(member)) continue
      idle.splice(idle.indexOf(member), 1)
      try {
        member.server = await options.open(member.index)
        member.isNew = true
      } catch {
        // The server stays undefined.
      } finally {
        giveBack(member)
      }
    }
  }

  /** Work that needs a server in the state of the episode, exclusively. */
  async function within<T>(
    state: EpisodeState,
    work: (server: StateServer, member: Member) => Promise<T>,
    { signal, onWait }: Pick<StateCallOptions, 'signal' | 'onWait'>,
  ): Promise<T> {
    if (closed) throw environmentClosed()
    signal?.throwIfAborted()
    onWait?.(true)
    const member = await take(state, signal)
    if (closed || signal?.aborted === true) {
      // The server arrived too late for this call. It did nothing and can be used again.
      giveBack(member)
      throw closed ? environmentClosed() : signal?.reason
    }
    try {
      const server = await prepare(member, state, signal)
      onWait?.(false)
      return await work(server, member)
    } catch (error) {
      // The server's state is unknown now, so no other episode may use it before a reset.
      if (error instanceof StateNotMade) member.journal = unknownState
      else await discard(member)
      throw error
    } finally {
      giveBack(member)
    }
  }

  return {
    call(state, name, args, callOptions = {}) {
      return within(
        state,
        async (server, member) => {
          const result = await callWithin(server.toolbox, name, args, callOptions)
          if (!options.writes(name)) return result
          const { isError } = result
          state.journal.push({ name, arguments: structuredClone(args), ...(isError ? { isError } : {}) })
          member.journal = [...state.journal]
          if (server.snapshot !== undefined) {
            state.snapshot = { at: state.journal.length, value: await server.snapshot() }
          }
          return result
        },
        callOptions,
      )
    },
    describe(state, signal) {
      return within(
        state,
        async (server) => {
          if (server.describe === undefined) throw new InfrastructureError('this state has no description')
          return server.describe()
        },
        { signal },
      )
    },
    records(state, signal) {
      return within(state, async (server) => (await server.records?.()) ?? [], { signal })
    },
    limit(servers) {
      usable = Math.max(1, servers)
    },
    open(servers) {
      early = servers
      startEarly()
    },
    async restart() {
      const used = idle.filter(({ index }) => index < usable)
      await Promise.all(used.map(discard))
      // One that was started early and waits is as new as any.
      const spare = idle.find(({ index, isNew }) => index >= usable && isNew)
      const [first] = used
      if (spare !== undefined && first !== undefined) {
        first.server = spare.server
        Object.assign(spare, { server: undefined, isNew: false })
      }
      early = Math.max(early, 1)
      startEarly()
    },
    async close() {
      closed = true
      for (const entry of waiting.splice(0)) entry.refuse(environmentClosed())
      await Promise.all(starting)
      await Promise.all(members.map(discard))
    },
  }
}

async function callWithin(
  toolbox: Toolbox,
  name: string,
  args: Record<string, unknown>,
  { signal, seconds, onWait }: StateCallOptions,
): Promise<ToolResult> {
  const given = onWait === undefined ? {} : { onWait }
  if (seconds === undefined) return toolbox.call(name, args, { ...given, ...defined({ signal }) })
  const deadline = pausableDeadline(seconds, () => new SlowCall(`it takes longer than ${seconds} s`))
  try {
    return await toolbox.call(name, args, {
      signal: signal === undefined ? deadline.signal : AbortSignal.any([signal, deadline.signal]),
      onWait(waiting) {
        deadline.onWait(waiting)
        onWait?.(waiting)
      },
    })
  } catch (error) {
    if (deadline.signal.aborted && signal?.aborted !== true) throw deadline.signal.reason
    throw error
  } finally {
    deadline.clear()
  }
}

function environmentClosed(): InfrastructureError {
  return new InfrastructureError('the environment is closed')
}

function sameCalls(left: readonly StateCall[], right: readonly StateCall[]): boolean {
  if (left.length !== right.length) return false
  return left.every((call, index) => {
    const other = right[index]
    if (call === other) return true
    return call.name === other.name && JSON.stringify(call.arguments) === JSON.stringify(other.arguments)
  })
}
