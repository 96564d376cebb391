import { afterEach, expect, test, vi } from 'vitest'
import { findRun } from './find-run.ts'
import { trainClassic } from './train-classic.ts'

/** What is used of the global of that name, which the types of Node 20 lack. */
const { Memory } = (
  globalThis as unknown as { WebAssembly: { Memory: { prototype: { grow: (pages: number) => number } } } }
).WebAssembly

afterEach(() => vi.restoreAllMocks())

// After the first memory that grows, V8 reads every typed array more slowly: a third of the speed of stepping.
test.each([
  ['ppo', 'sb3-zoo-cartpole', 'cartpole', {}],
  ['dqn', 'sb3-zoo-cartpole', 'cartpole', { learningStarts: 50, batchSize: 32 }],
  ['sac', 'sb3-zoo-pendulum', 'pendulum', { learningStarts: 50, batchSize: 32 }],
])('no memory grows under %s', async (algorithm, preset, environment, config) => {
  const grow = vi.spyOn(Memory.prototype, 'grow')
  const run = findRun({ environment, algorithm, preset, config })
  const { agent } = await trainClassic({ ...run, steps: 300, seed: 1, evaluate: { every: 0, episodes: 100 } })
  await agent.dispose()
  expect(grow).not.toHaveBeenCalled()
})
