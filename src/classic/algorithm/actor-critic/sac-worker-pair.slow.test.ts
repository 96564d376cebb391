import { expect, test } from 'vitest'
import { countParameters, createParameters } from '../../../engine/nn/index.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { startWorker } from '../../../engine/tensor/index.ts'
import { box } from '../../environment/index.ts'
import { sacBuffer, sacActor, sacCritics } from './sac-programs.ts'
import { asked, createSacWorkerPair, type SacWorkerPair } from './sac-worker-pair.ts'
import { sacPresets } from './sac.ts'

const unlearned = { first: new Float32Array(0), second: new Float32Array(0), steps: 0 }

/** A width above 128 uses the runtime, a smaller one the kernels. The number of rows is odd. */
const sizesOf = (width: number, actorEvery: number) => {
  const config = { ...sacPresets.cleanrl, hidden: [width, width], batchSize: 65, actorEvery }
  const networks = { config, observation: box([3], -1, 1), width: 3, action: 2 }
  const [actor, critics] = [sacActor(networks), sacCritics(networks)]
  return { sizes: { ...networks, actor: countParameters(actor.specs) }, actor, critics }
}

async function begun(width: number, actorEvery: number, threads: number): Promise<SacWorkerPair> {
  const { sizes, actor, critics } = sizesOf(width, actorEvery)
  const pair = await createSacWorkerPair(sizes, threads)
  const random = createRandom('team', 1)
  const { data } = createParameters(critics.specs, random.split('critics'))
  pair.restore({
    actor: createParameters(actor.specs, random.split('actor')).data,
    critics: data,
    targets: data,
    actorAdam: unlearned,
    criticAdam: unlearned,
  })
  return pair
}

/** A step from its own batch. */
async function step({ buffer, step }: SacWorkerPair, which: number, times: number): Promise<void> {
  const random = createRandom('batch', which)
  for (const name of ['observations', 'nextObservations', 'noise', 'rewards'] as const)
    buffer[name].forEach((_, i) => (buffer[name][i] = random.normal()))
  buffer.actions.forEach((_, i) => (buffer.actions[i] = Math.tanh(random.normal())))
  buffer.discounts.fill(0.9)
  buffer.temperatures.fill(0.2)
  await step(times, (time) => (buffer.temperatures[time + 1] = 0.3))
}

const largest = (a: Float32Array, b: Float32Array): number =>
  a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), 0)

test.each([16, 160])('two threads learn the same as one, with a width of %d', async (width) => {
  const [one, two] = [await begun(width, 2, 1), await begun(width, 2, 2)]
  const before = one.state()
  for (const [which, times] of [0, 2, 1, 0].entries()) {
    await step(one, which, times)
    await step(two, which, times)
    const [a, b] = [one.state(), two.state()]
    expect(largest(a.critics, b.critics)).toBeLessThan(2e-4)
    expect(largest(a.targets, b.targets)).toBeLessThan(2e-4)
    expect(largest(a.actor, b.actor)).toBeLessThan(2e-4)
    expect(b.criticAdam.steps).toBe(which + 1)
    for (const name of ['losses', 'estimates', 'logprobs', 'values'] as const)
      expect(largest(one.buffer[name], two.buffer[name])).toBeLessThan(1e-3)
  }
  // Both critics have changed, and differ.
  const { critics } = two.state()
  const [first, second] = [critics.subarray(0, critics.length / 2), critics.subarray(critics.length / 2)]
  expect(largest(first, before.critics)).toBeGreaterThan(1e-3)
  expect(largest(second, before.critics.subarray(critics.length / 2))).toBeGreaterThan(1e-3)
  expect(largest(first, second)).toBeGreaterThan(1e-3)
  await one.dispose()
  await two.dispose()
})

test('a learner of two threads resumes exactly, on new threads', async () => {
  const first = await begun(16, 1, 2)
  await step(first, 0, 1)
  const saved = structuredClone(first.state())
  await step(first, 1, 1)
  const second = await begun(16, 1, 2)
  second.restore(saved)
  await step(second, 1, 1)
  expect(second.state()).toEqual(first.state())
  await first.dispose()
  await second.dispose()
})

test('a failure of the second thread is reported', async () => {
  const { sizes } = sizesOf(16, 1)
  const buffer = sacBuffer(sizes, true)
  const worker = await startWorker(new URL('sac-worker-pair.ts', import.meta.url).href, 'sac-worker', {
    sizes,
    buffer,
  })
  // Nothing was sent, so the thread fails when it loads: while it is asked, or before the next barrier.
  expect(() => {
    worker!.ask(asked.load)
    worker!.barrier()
  }).toThrow(expect.objectContaining({ code: 'thread-stopped' }))
  await worker!.dispose()
})
