import { AgogeError } from '../../error.ts'
import { validateArguments } from '../../untrusted/validate.ts'
import type { Episode, ToolCall } from '../episode/types.ts'
import { InfrastructureError, type ToolResult } from '../tool/tool.ts'
import { pausableDeadline } from '../tool/waiting.ts'
import { inParallel } from '../in-parallel.ts'
import {
  createEpisodeState,
  type EpisodeLimits,
  type EpisodeSpec,
  type EpisodeState,
} from './episode-state.ts'
import type { Act, Actor, ToolEnvironment, ToolSession } from './types.ts'

/** Opens the session of an episode. Masks the episode if this fails. */
async function openSession(
  state: EpisodeState,
  environment: ToolEnvironment,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (signal?.aborted) {
    state.mask('aborted', 'the run was aborted')
    return
  }
  try {
    state.session = await environment.open(state.spec.task, signal === undefined ? {} : { signal })
  } catch (error) {
    maskOrRethrow(state, error, signal)
  }
}

/** Records what the policy did in a turn, then runs its calls one after another. Ends the episode if it answered. */
async function applyAct(
  state: EpisodeState,
  act: Act | Error,
  turn: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (act instanceof Error) {
    maskOrRethrow(state, act, signal)
    return
  }
  const node = state.addAct(act)
  if (act.finish === 'length') {
    state.end('token-limit')
    return
  }
  if (act.invalid !== undefined) {
    state.usage.calls++
    state.usage.invalidCalls++
    state.addToolResult(`${turn}.0`, { text: `error: ${act.invalid}`, isError: true })
    return
  }
  if (act.calls.length === 0) {
    state.answer = act.text
    state.end('answered')
    return
  }
  for (const call of act.calls) {
    state.usage.calls++
    const session = state.session as ToolSession
    const refusal = refusalReason(call, session)
    if (refusal !== undefined) {
      state.usage.invalidCalls++
      node.invalid ??= refusal
      state.addToolResult(call.id, { text: `error: ${refusal}`, isError: true })
      continue
    }
    const started = performance.now()
    try {
      state.addToolResult(call.id, await callTool(session, call, state, signal))
    } catch (error) {
      maskOrRethrow(state, error, signal)
      return
    } finally {
      state.toolSeconds += (performance.now() - started) / 1000
    }
  }
}

/** Judges an ended episode, unless it is masked. Then closes its session. */
async function judgeAndClose(state: EpisodeState, signal: AbortSignal | undefined): Promise<void> {
  const { session } = state
  if (session !== undefined && !state.isMasked()) {
    const { calls, invalidCalls } = state.usage
    try {
      state.addScore(await session.judge({ answer: state.answer, calls, invalidCalls }))
    } catch (error) {
      maskOrRethrow(state, error, signal)
    }
  }
  await state.close()
}

/** Returns why a call cannot run, as text for the policy: an unknown tool, or arguments that do not match its schema. */
function refusalReason(call: ToolCall, session: ToolSession): string | undefined {
  const spec = session.specs.find((tool) => tool.name === call.name)
  if (spec === undefined) return `unknown tool ${call.name}`
  return validateArguments(spec.inputSchema, call.arguments)
}

/**
 * Calls the tool. After the deadline it throws an infrastructure error, even if the tool ignores the abort signal. Time that
 * the call waits for a server or its state does not count.
 */
async function callTool(
  session: ToolSession,
  call: ToolCall,
  state: EpisodeState,
  signal: AbortSignal | undefined,
): Promise<ToolResult> {
  const seconds = state.limits.toolDeadlineSeconds
  const deadline = pausableDeadline(
    seconds,
    () => new InfrastructureError(`${call.name} gave no answer in ${seconds} s`),
  )
  const anySignal = signal === undefined ? deadline.signal : AbortSignal.any([signal, deadline.signal])
  let endWait = (): void => {}
  let over = false
  const onWait = (waiting: boolean): void => {
    // A call that was given up may still report waits.
    if (over) return
    deadline.onWait(waiting)
    endWait()
    if (waiting) endWait = state.waits.begin()
  }
  let onAbort = (): void => {}
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(anySignal.reason)
    anySignal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    anySignal.throwIfAborted()
    const id = `${state.spec.id}:${call.id}`
    return await Promise.race([
      session.call(call.name, call.arguments, { signal: anySignal, id, onWait }),
      aborted,
    ])
  } finally {
    over = true
    deadline.clear()
    endWait()
    anySignal.removeEventListener('abort', onAbort)
  }
}

/** Masks the episode, for an infrastructure fault. Rethrows an `AgogeError`: it is a mistake of the user and ends the run. */
function maskOrRethrow(state: EpisodeState, error: unknown, signal: AbortSignal | undefined): void {
  if (signal?.aborted) {
    state.mask('aborted', 'the run was aborted')
    return
  }
  if (AgogeError.isInstance(error)) throw error
  state.mask('infrastructure', error)
}

/**
 * Measures the time in which at least one call of a wave waits for a server, its state or its rate limit. A wave is the set of
 * episodes that run together. They wait for each other, so this time counts for none of them.
 */
export interface WaitClock {
  /** Begins the wait of one call. Returns a function that ends it. Calling that function again has no effect. */
  begin(): () => void
  /** Total waiting time so far. */
  milliseconds(): number
}

function createWaitClock(): WaitClock {
  let waiting = 0
  let since = 0
  let total = 0
  return {
    begin() {
      if (waiting++ === 0) since = performance.now()
      let over = false
      return () => {
        if (over) return
        over = true
        if (--waiting === 0) total += performance.now() - since
      }
    },
    milliseconds: () => total + (waiting > 0 ? performance.now() - since : 0),
  }
}

interface TurnProgress {
  turn: number
  /** Number of episodes that have not ended. */
  live: number
  /** Number of episodes in the wave. */
  total: number
  /** Tokens sampled so far in all episodes of the wave. */
  sampledTokens: number
}

interface RunOptions {
  signal?: AbortSignal
  onTurn?: (progress: TurnProgress) => void
  /** Maximum episodes that open, call tools or are judged at the same time. Default: 16. */
  concurrency?: number
}

/**
 * Runs a wave of episodes in lockstep. In each turn, all episodes that have not ended act in one batch, in the order of `specs`.
 * Then their calls run concurrently. So the batches do not depend on the speed of the tools.
 *
 * The status of an episode is one of:
 * - `ok`: it gave an answer and was judged, successful or not.
 * - `failed`: it reached a turn or token limit. It is judged too, and counts in training.
 * - `masked`: an infrastructure fault. A server crashed or hung, the actor could not be reached, the run was aborted, the
 *   wall-clock limit passed, or the outcome could not be judged. It has no reward, and `error` gives the reason.
 *
 * A fault in one episode does not affect the others.
 *
 * @throws AgogeError only for mistakes that would fail every episode, such as a wrong key or a missing command. All sessions
 *   are closed first.
 * @example
 * const task = filesystemTasks.task({ split: 'test', seed: 0 })
 * const limits = { turns: 6, deadlineSeconds: 120, toolDeadlineSeconds: 20 }
 * const [episode] = await runEpisodes([{ id: '0', group: '0', task }], actor, environment, limits)
 */
export async function runEpisodes(
  specs: readonly EpisodeSpec[],
  actor: Actor,
  environment: ToolEnvironment,
  limits: EpisodeLimits,
  options: RunOptions = {},
): Promise<Episode[]> {
  const { signal, onTurn, concurrency = 16 } = options
  const waits = createWaitClock()
  const states = specs.map((spec) => createEpisodeState(spec, actor, environment, limits, waits))
  const forEachEpisode = (
    items: readonly EpisodeState[],
    work: (state: EpisodeState) => Promise<void>,
  ): Promise<void[]> => inParallel(items, concurrency, work)

  try {
    await forEachEpisode(states, (state) => openSession(state, environment, signal))
    for (let turn = 0; ; turn++) {
      const live = states.filter((state) => state.ending === undefined)
      if (live.length === 0) break
      for (const state of live) state.checkLimits(turn, signal)
      const acting = live.filter((state) => state.ending === undefined)
      const acts = await askActor(acting, turn, actor, environment, signal)
      await forEachEpisode(acting, async (state) => {
        await applyAct(state, acts[acting.indexOf(state)], turn, signal)
      })
      await forEachEpisode(
        live.filter((state) => state.ending !== undefined),
        (state) => judgeAndClose(state, signal),
      )
      onTurn?.({
        turn,
        live: live.filter((state) => state.ending === undefined).length,
        total: states.length,
        sampledTokens: states.reduce((sum, state) => sum + state.usage.sampledTokens, 0),
      })
    }
  } finally {
    await forEachEpisode(states, (state) => state.close())
  }
  return states.map((state) => state.toEpisode())
}

/** Returns one act per episode. If the actor throws, the result is its error, once per episode. */
async function askActor(
  acting: readonly EpisodeState[],
  turn: number,
  actor: Actor,
  environment: ToolEnvironment,
  signal: AbortSignal | undefined,
): Promise<Awaited<ReturnType<Actor['act']>>> {
  if (acting.length === 0) return []
  const requests = acting.map((state) => ({
    episode: state.spec.id,
    turn,
    nodes: state.nodes,
    tools: state.session?.specs ?? environment.tools,
  }))
  try {
    return await actor.act(requests, signal === undefined ? {} : { signal })
  } catch (error) {
    if (AgogeError.isInstance(error)) throw error
    return acting.map(() => (error instanceof Error ? error : new Error(String(error))))
  }
}
