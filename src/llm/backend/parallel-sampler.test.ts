import { expect, test } from 'vitest'
import { createParallelSampler } from './parallel-sampler.ts'
import { createGrammarCompiler } from '../grammar/compiler.ts'
import { packTexts } from '../grammar/cursor.ts'
import { initialiseParameters } from '../model/parameters.ts'
import { createSampler } from '../sampling/sampler.ts'
import { createThreads } from './threads.ts'
import { tinyConfig as config } from '../testing/tiny-model.ts'

const requests = Array.from({ length: 24 }, (_, row) => ({
  prompt: Int32Array.from({ length: 3 + (row % 5) }, (_unused, i) => (row * 7 + i * 5) % 64),
  key: row,
}))
const options = { maxTokens: 12, stop: [0], temperature: 1, seed: 4 }

test('two threads draw the same as one, also with new weights and continued prompts', async () => {
  const parameters = initialiseParameters(config, 3)
  const cacheBytes = 2 ** 22
  const one = createSampler({ config, parameters, threads: 1, cacheBytes })
  const threads = createThreads({ config, parameters, count: 2, cacheBytes, tokenBudget: 64 })
  const two = createParallelSampler({ config, parameters, threads, cacheBytes })
  const both = async (rows: typeof requests) => {
    const [expected, found] = await Promise.all([one.sample(rows, options, 5), two.sample(rows, options, 5)])
    expect(found.map(({ tokens }) => [...tokens])).toEqual(expected.map(({ tokens }) => [...tokens]))
    for (const [i, { logprobs, weightVersion, finish }] of found.entries()) {
      expect(weightVersion).toBe(5)
      expect(finish).toBe(expected[i].finish)
      logprobs.forEach((value, at) => expect(value).toBeCloseTo(expected[i].logprobs[at], 4))
    }
    return found
  }
  const outputs = await both(requests)
  await both(
    requests.map(({ prompt, key }, i) => ({
      prompt: Int32Array.from([...prompt, ...outputs[i].tokens, 9]),
      key,
    })),
  )
  for (let i = 0; i < parameters.data.length; i++) parameters.data[i] *= 1.5
  threads.weightsChanged()
  one.clear()
  two.clear()
  const changed = await both(requests)
  expect(changed.map(({ tokens }) => [...tokens])).not.toEqual(outputs.map(({ tokens }) => [...tokens]))
  await both(requests.slice(0, 3))
  await Promise.all([one.dispose(), two.dispose(), threads.dispose()])
})

test('threads apart from this one draw the same bits, few rows or many', async () => {
  const own = { config, parameters: initialiseParameters(config, 3), cacheBytes: 2 ** 22 }
  const drawn = []
  for (const apart of [false, true]) {
    const threads = createThreads({ ...own, count: 2, apart, tokenBudget: 64 })
    const sampler = createParallelSampler({ ...own, threads })
    drawn.push([
      await sampler.sample(requests, options, 1),
      await sampler.sample(requests.slice(0, 2), options, 1),
    ])
    expect(threads.helperOf(0) === undefined).toBe(!apart)
    await Promise.all([sampler.dispose(), threads.dispose()])
  }
  expect(drawn[1]).toEqual(drawn[0])
})

test('a call that is aborted ends in all threads, and the next one works', async () => {
  const own = { config, parameters: initialiseParameters(config, 3), cacheBytes: 2 ** 22 }
  const threads = createThreads({ ...own, count: 2, tokenBudget: 64 })
  const sampler = createParallelSampler({ ...own, threads })
  const controller = new AbortController()
  const sampling = sampler.sample(
    requests,
    { ...options, stop: [], maxTokens: 50, signal: controller.signal },
    1,
  )
  controller.abort()
  await expect(sampling).rejects.toThrow(/abort/i)
  expect(await sampler.sample(requests, options, 1)).toHaveLength(24)
  await Promise.all([sampler.dispose(), threads.dispose()])
})

test('a listener that throws fails its call, also for rows in another thread, and the next call works', async () => {
  const own = { config, parameters: initialiseParameters(config, 3), cacheBytes: 2 ** 22 }
  const threads = createThreads({ ...own, count: 2, tokenBudget: 64 })
  const sampler = createParallelSampler({ ...own, threads })
  for (const deaf of [0, 1, 2, 3]) {
    const onToken = (row: number): void => {
      if (row === deaf) throw new Error(`row ${row}`)
    }
    await expect(sampler.sample(requests, { ...options, onToken }, 1)).rejects.toThrow(`row ${deaf}`)
  }
  expect(await sampler.sample(requests, options, 1)).toHaveLength(24)
  await Promise.all([sampler.dispose(), threads.dispose()])
})

test('a thread that ended fails the call in it; the next call starts it again, with the same weights', async () => {
  const own = { config, parameters: initialiseParameters(config, 3), cacheBytes: 2 ** 22 }
  const threads = createThreads({ ...own, count: 2, apart: true, tokenBudget: 64 })
  const sampler = createParallelSampler({ ...own, threads })
  sampler.setTexts(packTexts(Array.from({ length: 64 }, (_, id) => Uint8Array.of(32 + id))))
  const digits = { ...options, stop: [], grammar: { regex: '[0-9]{6}' } }
  const expected = await sampler.sample(requests, digits, 1)
  for (const part of [0, 1]) {
    const failing = sampler.sample(requests, digits, 1)
    const ending = threads.helperOf(part)?.end()
    await expect(failing).rejects.toMatchObject({ code: 'worker-ended' })
    await ending
    sampler.clear()
    expect(await sampler.sample(requests, digits, 1)).toEqual(expected)
  }
  await Promise.all([sampler.dispose(), threads.dispose()])
})

test('rows whose grammar a client brought are sampled in other threads, few or many', async () => {
  const own = { config, parameters: initialiseParameters(config, 3), cacheBytes: 2 ** 22 }
  const threads = createThreads({ ...own, count: 2, tokenBudget: 64 })
  const asked: number[] = []
  const helper = threads.helperOf(1)
  if (helper === undefined) throw new Error('no thread but this one')
  const watched = {
    ...helper,
    ask: (...what: Parameters<typeof helper.ask>) => {
      asked.push((what[1] as { requests: unknown[] }).requests.length)
      return helper.ask(...what)
    },
  }
  const sampler = createParallelSampler({
    ...own,
    threads: { ...threads, helperOf: (part) => (part === 1 ? watched : undefined) },
  })
  sampler.setTexts(packTexts(Array.from({ length: 64 }, (_, id) => Uint8Array.of(32 + id))))
  const controller = new AbortController()
  const compiler = createGrammarCompiler({ markers: new Uint8Array(64) })
  const grammar = await compiler.compile({ regex: '[0-9]{3}' }, controller.signal)
  for (const count of [1, 24]) {
    const rows = requests.slice(0, count).map((request) => ({ ...request, grammar }))
    const outputs = await sampler.sample(rows, { ...options, stop: [] }, 1, true)
    for (const { tokens } of outputs) expect([...tokens].every((id) => id >= 16 && id < 26)).toBe(true)
  }
  expect(asked).toEqual([1, 24])
  await Promise.all([sampler.dispose(), threads.dispose(), compiler.dispose()])
})
