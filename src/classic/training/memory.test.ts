import { afterEach, expect, test, vi } from 'vitest'
import { findRun } from './find-run.ts'
import { trainClassic } from './train-classic.ts'

/** The part of the global of that name that this test uses. The types of Node 20 lack it. */
const { Memory } = (
  globalThis as unknown as { WebAssembly: { Memory: { prototype: { grow: (pages: number) => number } } } }
).WebAssembly

afterEach(() => vi.restoreAllMocks())

// After the first memory grows, V8 reads every typed array more slowly: stepping falls to a third of its speed.
test.each([
  ['ppo', 'sb3-zoo-cartpole', 'cartpole', {}],
  ['dqn', 'sb3-zoo-cartpole', 'cartpole', { learningStarts: 50, batchSize: 32 }],
  ['ppo', 'cleanrl-continuous', 'hopper', { rolloutSteps: 128, minibatches: 4 }],
  ['sac', 'sb3-zoo-pendulum', 'pendulum', { learningStarts: 50, batchSize: 32 }],
])('no WebAssembly memory grows during %s', async (algorithm, preset, environment, config) => {
  const grow = vi.spyOn(Memory.prototype, 'grow')
  const run = findRun({ environment, algorithm, preset, config })
  const { agent } = await trainClassic({ ...run, steps: 300, seed: 1, evaluate: { every: 0, episodes: 100 } })
  await agent.dispose()
  expect(grow).not.toHaveBeenCalled()
})
