import type { ForwardBackwardOutput, SampleResponse } from '../../backend/tinker/index.ts'
import type { Handler } from './context.ts'
import { textOf } from './fields.ts'

/** Clients wait 45 s or more for an answer. */
const holdSeconds = 20

/** The result of a request, waited for; 408 says that there is none yet, and to ask again. */
export const retrieveFuture: Handler = async ({ context, body, protobuf }) => {
  const id = textOf(body, 'request_id')
  const outcome = await context.futures.take(id, holdSeconds)
  if (outcome.state === 'pending')
    return {
      status: 408,
      json: { type: 'try_again', request_id: id, queue_state: 'active', detail: 'not done yet' },
    }
  if (outcome.state === 'failed') {
    const { error, category, code } = outcome
    return { json: { error, category, ...(code === undefined ? {} : { agoge: { code } }) } }
  }
  const { result, kind } = outcome
  if (!protobuf || kind === 'other') return { json: result }
  const { writeForwardBackwardOutput, writeSampleResponse } = await import('./protobuf/messages.ts')
  const bytes =
    kind === 'sample'
      ? writeSampleResponse(result as SampleResponse)
      : writeForwardBackwardOutput(result as ForwardBackwardOutput)
  return { bytes, headers: { 'content-type': 'application/x-protobuf' } }
}
