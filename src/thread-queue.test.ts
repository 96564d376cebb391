import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { createThreadQueue } from './thread-queue.ts'

/** Answers a number with its double, `hang` never and `fail` with its end. */
const code = `const { parentPort } = require('node:worker_threads')
parentPort.on('message', (question) => {
  if (question === 'hang') for (;;);
  if (question === 'fail') throw new Error('it failed')
  parentPort.postMessage(question.byteLength ?? 2 * question)
})`

function doubler() {
  let started = 0
  const queue = createThreadQueue<unknown, number>(() => {
    started++
    return new Worker(code, { eval: true })
  })
  return { queue, started: () => started }
}

test('questions are answered one after another by one thread, and buffers are moved to it', async () => {
  const { queue, started } = doubler()
  expect(started()).toBe(0)
  expect(await Promise.all([1, 2, 3].map((one) => queue.ask(one)))).toEqual([2, 4, 6])
  const { buffer } = new Uint8Array(10)
  expect(await queue.ask(buffer, { transfer: [buffer] })).toBe(10)
  expect(buffer.byteLength).toBe(0)
  expect(started()).toBe(1)
  await queue.dispose(new Error('over'))
})

test('a question that takes too long or is aborted ends the thread, and the next gets a new one', async () => {
  const { queue, started } = doubler()
  const slow = queue.ask('hang', { most: 50 })
  const waiting = queue.ask(1)
  await expect(slow).rejects.toMatchObject({ name: 'TimeoutError' })
  expect(await waiting).toBe(2)
  const abort = new AbortController()
  const running = queue.ask('hang', { signal: abort.signal })
  const dropped = queue.ask(5, { signal: AbortSignal.abort(new Error('no')) })
  const after = queue.ask(2)
  abort.abort(new Error('enough'))
  await expect(dropped).rejects.toThrow('no')
  await expect(running).rejects.toThrow('enough')
  expect(await after).toBe(4)
  expect(started()).toBe(3)
  await queue.dispose(new Error('over'))
})

test('the error of the thread is that of its question only, and dispose refuses those that wait', async () => {
  const { queue } = doubler()
  const failed = queue.ask('fail')
  const waiting = queue.ask(4)
  await expect(failed).rejects.toThrow('it failed')
  expect(await waiting).toBe(8)
  const hanging = queue.ask('hang')
  const behind = queue.ask(1)
  const over = Promise.all([expect(hanging).rejects.toThrow('over'), expect(behind).rejects.toThrow('over')])
  await queue.dispose(new Error('over'))
  await over
})
