import { afterAll, expect, test } from 'vitest'
import { createLocalBackend } from '../backend/local-backend.ts'
import { smallConfig } from '../model/config.ts'
import { createJoiningQueue } from './sample-queue.ts'

const config = { ...smallConfig, hidden_size: 32, intermediate_size: 32, num_hidden_layers: 1 }
const backend = createLocalBackend({ config, seed: 1, threads: 1 })
afterAll(() => backend.dispose())

const request = (key: number, maxTokens: number) => ({
  prompt: Int32Array.of(3, 1, 4, key),
  key,
  maxTokens,
  stop: [],
  temperature: 1,
  seed: 2,
})
const open = () => new AbortController().signal

test('short requests that come later end first; one that fails or hangs up is alone in it; too many are refused', async () => {
  const queue = createJoiningQueue(backend, 4)
  const ends: string[] = []
  const track = async (name: string, work: Promise<unknown>) => {
    await work
    ends.push(name)
  }
  let begun = (): void => {}
  const running = new Promise<void>((resolve) => {
    begun = resolve
  })
  const long = track('long', queue.sample([request(0, 300)], { signal: open(), onToken: () => begun() }))
  await running
  const controller = new AbortController()
  const gone = queue.sample([request(1, 300)], {
    signal: controller.signal,
    onToken: () => controller.abort(),
  })
  const bad = queue.sample([{ ...request(2, 5), topP: 7 }], { signal: open() })
  const short = track('short', queue.sample([request(3, 5)], { signal: open() }))
  await expect(queue.sample([request(4, 5)], { signal: open() })).rejects.toMatchObject({
    code: 'overloaded',
  })
  await expect(bad).rejects.toMatchObject({ code: 'bad-sampling-options' })
  await expect(gone).rejects.toThrow(/abort/i)
  await Promise.all([long, short])
  expect(ends).toEqual(['short', 'long'])
  expect(queue.load).toBe(0)
})
