import { parentPort } from 'node:worker_threads'
import { AgogeError, type ErrorData } from '../../../error.ts'
import { refusalData } from './fields.ts'
import { type LossBody, readLossBody, type ReadLossBody } from './loss-body.ts'

/** What the thread answers. */
export type LossBodyAnswer = ReadLossBody | { refused: ErrorData }

// A thread that reads the bodies of training requests, which may be long, one after another.
const port = parentPort!

async function answer(body: LossBody): Promise<LossBodyAnswer> {
  try {
    return await readLossBody(body)
  } catch (error) {
    if (!AgogeError.isInstance(error)) throw error
    return { refused: refusalData(error) }
  }
}

port.on('message', (body: LossBody) => {
  void answer(body).then((given) => {
    const sequences = 'refused' in given || 'refused' in given.loss ? undefined : given.loss.sequences
    const moved = sequences === undefined ? [] : [sequences.tokens.buffer, sequences.numbers.buffer]
    port.postMessage(given, moved as ArrayBuffer[])
  })
})
