import type { Hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Worker } from 'node:worker_threads'
import { startThread } from '../../../engine/tensor/index.ts'
import { AgogeError, type ErrorData } from '../../../error.ts'
import { createThreadQueue } from '../../../thread-queue.ts'
import { checked, noSecrets, redacted } from '../../../untrusted/untrusted.ts'
import { apiPath } from '../../backend/tinker/wire.ts'
import { type PackedSequences, unpackSome } from '../../backend/packed-sequences.ts'
import type { TrainingSequence } from '../../episode/types.ts'
import { readBody } from '../http.ts'
import { bodyLimits, createJsonCounter, createJsonReader } from '../json-body.ts'
import { inSharedTurn, ownTurn } from '../turns.ts'
import type { Call } from './context.ts'
import { type Fields, fieldsOf, refuse } from './fields.ts'
import type { LossBody } from './loss-body.ts'
import type { LossBodyAnswer } from './loss-body-thread.ts'

export const protobufType = 'application/x-protobuf'

/** The requests that compute a loss, with the field of its input. Their bodies are long. */
const lossFields: Readonly<Record<string, LossBody['field']>> = {
  [`${apiPath}/forward`]: 'forward_input',
  [`${apiPath}/forward_backward`]: 'forward_backward_input',
}

/** Most bytes of a body that is read in the thread that answers. */
const mostOfOthers = 2 ** 20

/** Requests that compute a loss are read in a thread of their own: their lists of numbers may be as long as the body. */
const lossLimits = { parts: 2 ** 18, names: 2 ** 18, commas: Infinity }

const refuseJson = (problem: string, expected: string): never => {
  throw refuse('tinker-bad-request', `The body ${problem}`, { expected })
}

/** Reads the bodies of requests. */
export interface BodyReader {
  /**
   * @param digest takes the bytes
   * @throws AgogeError for a body that is too large, compressed, of another type, or no request of the protocol
   */
  read(incoming: IncomingMessage, path: string, digest: Hash): Promise<Pick<Call, 'body' | 'loss'>>
  dispose(): Promise<void>
}

/** @param maxBody maximum size of a request that computes a loss, in bytes */
export function createBodyReader(maxBody: number): BodyReader {
  const thread = createThreadQueue<LossBody, LossBodyAnswer>(() =>
    startThread(Worker, import.meta.url, 'loss-body-thread', undefined),
  )

  async function readLoss(
    incoming: IncomingMessage,
    field: LossBody['field'],
    digest: Hash,
  ): Promise<Pick<Call, 'body' | 'loss'>> {
    const type = typeOf(incoming)
    const protobuf = type === protobufType && field === 'forward_backward_input'
    if (!protobuf) checkJson(type)
    const count = protobuf ? undefined : createJsonCounter(lossLimits, refuseJson)
    const list = createByteList()
    await readBody(
      incoming,
      maxBody,
      (part) => {
        digest.update(part)
        // What is counted are single bytes in UTF-8, which no byte of another character equals.
        count?.(Buffer.from(part.buffer, part.byteOffset, part.length).toString('latin1'))
        list.push(part)
      },
      tooLarge(maxBody, 'Send fewer sequences at once.'),
    )
    const parts = list.parts()
    const transfer = parts.map(({ buffer }) => buffer)
    const answer = await thread.ask({ parts, protobuf, field }, { transfer })
    if ('refused' in answer) throw asError(answer.refused)
    const { body, forwardOnly, loss } = answer
    if ('refused' in loss) return { body, loss: { refused: asError(loss.refused) } }
    return {
      body,
      loss: { request: { ...loss, sequences: await unpackInTurns(loss.sequences) }, forwardOnly },
    }
  }

  return {
    read(incoming, path, digest) {
      checkEncoding(incoming)
      const field = lossFields[path]
      return field === undefined
        ? readFields(incoming, Math.min(maxBody, mostOfOthers), digest)
        : readLoss(incoming, field, digest)
    },
    dispose: () => thread.dispose(new Error('the server is closed')),
  }
}

/** Sequences that are unpacked at once. */
const sequencesAtOnce = 256

async function unpackInTurns(packed: PackedSequences): Promise<TrainingSequence[]> {
  const sequences: TrainingSequence[] = []
  const at = { next: 0, place: 0 }
  while (at.next < packed.lengths.length)
    await inSharedTurn(() => void sequences.push(...unpackSome(packed, at, sequencesAtOnce)))
  return sequences
}

async function readFields(incoming: IncomingMessage, most: number, digest: Hash): Promise<{ body: Fields }> {
  checkJson(typeOf(incoming))
  const reader = createJsonReader(bodyLimits, refuseJson)
  await readBody(
    incoming,
    most,
    (part) => {
      digest.update(part)
      reader.push(part)
    },
    tooLarge(most, 'Only requests that compute a loss may be longer.'),
  )
  await ownTurn()
  const body = await reader.end()
  await ownTurn()
  return {
    body: redacted(
      checked(body, (fields) => fieldsOf(fields, 'body')),
      noSecrets,
    ),
  }
}

const asError = ({ message, details }: ErrorData): AgogeError => new AgogeError(message, details)

const typeOf = ({ headers }: IncomingMessage): string | undefined =>
  headers['content-type']?.split(';')[0].trim().toLowerCase()

/** A browser sends this type to another origin only after a preflight request, which is refused. */
function checkJson(type: string | undefined): void {
  if (type === 'application/json') return
  throw refuse('tinker-media-type', 'The type of the body is wrong', {
    given: type,
    expected: 'application/json',
  })
}

function checkEncoding({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding']
  if (encoding === undefined || encoding === 'identity') return
  throw refuse('tinker-media-type', 'Compressed bodies are not understood', {
    given: encoding,
    expected: 'no content-encoding, as this server says in client/config',
  })
}

const tooLarge = (most: number, hint: string) => (): Error =>
  refuse('tinker-body-too-large', `The body has more than ${most} bytes`, { hint })

/** Bytes of a part of a long body. */
const partBytes = 2 ** 20

/** Bytes that come in small pieces, in parts of one megabyte: one array of them all would be copied again and again as it grows. */
function createByteList(): { push(piece: Uint8Array): void; parts(): Uint8Array<ArrayBuffer>[] } {
  const full: Uint8Array<ArrayBuffer>[] = []
  let part = new Uint8Array(partBytes)
  let length = 0
  return {
    push(piece) {
      for (let from = 0; from < piece.length;) {
        const taken = piece.subarray(from, from + partBytes - length)
        part.set(taken, length)
        length += taken.length
        from += taken.length
        if (length < partBytes) return
        full.push(part)
        part = new Uint8Array(partBytes)
        length = 0
      }
    },
    parts: () => [...full, part.subarray(0, length)],
  }
}
