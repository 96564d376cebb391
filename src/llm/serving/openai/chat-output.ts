import { randomUUID } from 'node:crypto'
import { cutAtStop } from '../../agent/chat-format/index.ts'
import type { ChatFormat, ChatOutput } from '../../agent/chat-format/index.ts'
import type { SampleOutput } from '../../model-backend.ts'
import type { ChatRequest } from './chat-request.ts'
import type { Json } from './fields.ts'
import type { ServedModel } from './served-model.ts'

/** What was said, without the texts that ended it. */
export function readOutput(
  output: Int32Array,
  request: ChatRequest,
  { tokenizer }: ServedModel,
  format: ChatFormat,
): ChatOutput {
  const read = format.read(output)
  const raw = (): string => {
    const end = output.findIndex((id) => format.stop.includes(id))
    return tokenizer.decode(end < 0 ? output : output.subarray(0, end))
  }
  const calls = read.calls.filter(({ name }) => request.tools.some((tool) => tool.name === name))
  const thought = read.reasoning === undefined ? {} : { reasoning: read.reasoning }
  const isAttempt = read.invalid !== undefined && request.callsAllowed
  // An attempt that cannot be read goes back as it was said; calls of what was not offered are no calls.
  const plain = isAttempt
    ? { ...thought, text: raw(), calls: [] }
    : read.invalid !== undefined || calls.length < read.calls.length
      ? { ...thought, text: format.plain(output), calls }
      : read
  return {
    ...plain,
    text: cutAtStop(plain.text, request.stop),
    calls: request.parallel ? plain.calls : plain.calls.slice(0, 1),
  }
}

/** Calls as the protocol writes them. */
export function wireCalls(calls: ChatOutput['calls']): Json[] {
  return calls.map(({ name, arguments: given }) => ({
    id: `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(given) },
  }))
}

export const finishOf = (output: SampleOutput, calls: readonly unknown[]): string =>
  calls.length > 0 ? 'tool_calls' : output.finish

export function totalTokens(outputs: readonly SampleOutput[]): number {
  return outputs.reduce((sum, { tokens }) => sum + tokens.length, 0)
}
