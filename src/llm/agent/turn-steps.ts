import { AgogeError } from '../../error.ts'
import type { ToolCall } from '../episode/tool-call.ts'
import { InfrastructureError, type ToolResult } from '../tool/tool.ts'
import { pausableDeadline } from '../tool/waiting.ts'
import { validateArguments } from '../../untrusted/validate.ts'
import type { EpisodeState } from './episode-state.ts'
import type { Act, ToolSession, ToolEnvironment } from './types.ts'

/** Opens the episode's session; where the environment cannot, the episode is masked. */
export async function open(
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
    maskFault(state, error, signal)
  }
}

/** Records what the policy did and runs its calls one after another. */
export async function actOn(
  state: EpisodeState,
  act: Act | Error,
  turn: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (act instanceof Error) {
    maskFault(state, act, signal)
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
    const refusal = refuse(call, session)
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
      maskFault(state, error, signal)
      return
    } finally {
      state.toolSeconds += (performance.now() - started) / 1000
    }
  }
}

/** Judges an episode that has ended, unless it is masked, and closes its session. */
export async function finish(state: EpisodeState, signal: AbortSignal | undefined): Promise<void> {
  const { session } = state
  if (session !== undefined && !state.masked()) {
    const { calls, invalidCalls } = state.usage
    try {
      state.judged(await session.judge({ answer: state.answer, calls, invalidCalls }))
    } catch (error) {
      maskFault(state, error, signal)
    }
  }
  await state.close()
}

/** Why a call is not run: an unknown tool or arguments against its schema, in few words the policy is told. */
function refuse(call: ToolCall, session: ToolSession): string | undefined {
  const spec = session.specs.find((tool) => tool.name === call.name)
  if (spec === undefined) return `unknown tool ${call.name}`
  return validateArguments(spec.inputSchema, call.arguments)
}

/**
 * Calls the tool; it counts as hung after its deadline even where it takes no notice of the signal. Time in which the call waits for a
 * server or its state is no time of the tool.
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
  const either = signal === undefined ? deadline.signal : AbortSignal.any([signal, deadline.signal])
  let endWait = (): void => {}
  let over = false
  const onWait = (waiting: boolean): void => {
    // A call that was given up may go on telling.
    if (over) return
    deadline.onWait(waiting)
    endWait()
    if (waiting) endWait = state.waits.begin()
  }
  let onAbort = (): void => {}
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(either.reason)
    either.addEventListener('abort', onAbort, { once: true })
  })
  try {
    either.throwIfAborted()
    const id = `${state.spec.id}:${call.id}`
    return await Promise.race([
      session.call(call.name, call.arguments, { signal: either, id, onWait }),
      aborted,
    ])
  } finally {
    over = true
    deadline.clear()
    endWait()
    either.removeEventListener('abort', onAbort)
  }
}

/** A fault of ours masks the episode; a mistake of the user ends the run. */
function maskFault(state: EpisodeState, error: unknown, signal: AbortSignal | undefined): void {
  if (signal?.aborted) {
    state.mask('aborted', 'the run was aborted')
    return
  }
  if (AgogeError.isInstance(error)) throw error
  state.mask('infrastructure', error)
}
