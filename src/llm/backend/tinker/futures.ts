import { setTimeout as sleep } from 'node:timers/promises'
import { createAnswerReader } from './answers.ts'
import type { Fields } from './answers.ts'
import { deadlineError, excerpt, failedError, refusedError } from './errors.ts'
import type { Transport } from './transport.ts'

export interface Waiting {
  /** For messages: what is being done. */
  what: string
  signal?: AbortSignal
  deadlineSeconds: number
}

/** The server holds a question for a while; one that does not is asked less and less often, but at least so often. */
const leastPause = 0.02
const mostPause = 2

/**
 * The result of a request that the server took. It is asked for until it is there: 408 and `try_again` mean not yet.
 *
 * @throws AgogeError `tinker-request-failed` with what the server said, `tinker-not-found` where it forgot the request,
 *   `tinker-deadline`; whatever the transport throws; the reason of the signal.
 */
export async function retrieveFuture(
  transport: Transport,
  requestId: string,
  { what, signal: given, deadlineSeconds }: Waiting,
): Promise<Fields> {
  const path = 'retrieve_future'
  const signal = given === undefined ? undefined : AbortSignal.any([given])
  const read = createAnswerReader(transport.host, path)
  const began = performance.now()
  const elapsed = (): number => (performance.now() - began) / 1000
  let pause = leastPause
  for (;;) {
    const asked = performance.now()
    const { status, body } = await transport.call({
      path,
      body: { request_id: requestId },
      accept: [400, 408],
      // Silence is no answer, however long the work may take.
      patienceSeconds: Math.min(transport.patienceSeconds, Math.max(0, deadlineSeconds - elapsed())),
      ...(signal === undefined ? {} : { signal }),
    })
    const fields = read.fields(body, 'object')
    if (status === 400) throw failedError(transport.host, what, excerpt(fields['detail'] ?? body))
    if (status !== 408 && fields['type'] !== 'try_again') {
      if (typeof fields['error'] === 'string' && fields['error'] !== '')
        throw failedError(transport.host, what, fields['error'], {
          category: String(fields['category']),
          code: codeOf(fields),
        })
      return fields
    }
    if (elapsed() > deadlineSeconds) throw deadlineError(transport.host, what, deadlineSeconds)
    pause = performance.now() - asked > 1000 ? leastPause : Math.min(mostPause, pause * 2)
    await sleep(pause * 1000, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
      throw signal?.aborted === true ? signal.reason : error
    })
  }
}

/** What Agoge's own server calls the error; other servers give none. */
function codeOf(failed: Fields): string | undefined {
  const agoge = failed['agoge'] as Fields | null | undefined
  const code = agoge?.['code']
  return typeof code === 'string' ? code : undefined
}

/** The id under which a request was taken. */
export function requestIdOf(transport: Transport, path: string, body: unknown): string {
  const read = createAnswerReader(transport.host, path)
  const fields = read.fields(body, 'object')
  if (typeof fields['error'] === 'string' && fields['error'] !== '')
    throw refusedError(transport.host, path, 200, fields['error'])
  return read.text(fields, 'request_id')
}
