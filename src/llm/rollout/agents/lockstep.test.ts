import { afterAll, expect, test } from 'vitest'
import { AgogeError } from '../../../error.ts'
import { createLocalBackend } from '../../backend/local-backend.ts'
import { tinyConfig } from '../../testing/tiny-model.ts'
import { createLockstep } from './lockstep.ts'

const backend = createLocalBackend({ config: tinyConfig, seed: 1, threads: 1 })
afterAll(() => backend.dispose())

const request = (key: number) => ({
  prompt: Int32Array.of(3, 1, 4),
  key,
  seed: 2,
  maxTokens: 20,
  stop: [],
  temperature: 1,
})
const signal = new AbortController().signal

test('an error in one program’s listener fails only that program', async () => {
  const lockstep = createLockstep({ backend, members: 2, patienceSeconds: 10 })
  let heard = 0
  const deaf = lockstep
    .sample(0, 0, request(0), {
      signal,
      onToken() {
        heard++
        throw new AgogeError('no more', { code: 'bad-argument' })
      },
    })
    .catch((error: Error) => error.message)
  const tokens: number[] = []
  const output = await lockstep.sample(1, 0, request(1), { signal, onToken: (token) => tokens.push(token) })
  expect(await deaf).toBe('no more')
  expect(heard).toBe(1)
  expect(tokens).toEqual([...output.tokens])
})

test('sampling stops once every listener has thrown', async () => {
  const lockstep = createLockstep({ backend, members: 2, patienceSeconds: 10 })
  let heard = 0
  const onToken = (): void => {
    heard++
    throw new Error('no more')
  }
  const both = [0, 1].map((member) => lockstep.sample(member, 0, request(member), { signal, onToken }))
  for (const one of both) await expect(one).rejects.toThrow('no more')
  expect(heard).toBe(2)
  lockstep.left(0)
  expect((await lockstep.sample(1, 1, request(1), { signal })).tokens.length).toBe(20)
})
