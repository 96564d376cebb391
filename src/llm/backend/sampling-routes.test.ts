import { expect, test } from 'vitest'
import { createRoutes } from './parallel-sampler.ts'

const prompt = (...ids: number[]) => Int32Array.from(ids)

test('a prompt follows its longest known prefix, the rest is distributed evenly', () => {
  const routes = createRoutes(2)
  const prompts = Array.from({ length: 8 }, (_, i) => prompt(1, 2, 100 + i))
  const first = routes.assign(prompts)
  expect(first.filter((part) => part === 0)).toHaveLength(4)
  const longer = prompts.map((tokens) => prompt(...tokens, 7, 8))
  expect(routes.assign(longer.toReversed())).toEqual(first.toReversed())
  routes.clear()
  expect(routes.assign([prompts[1]])).toEqual([0])
})

test('siblings share a thread only while no other waits for it', () => {
  const routes = createRoutes(2)
  const parts = routes.assign(Array.from({ length: 20 }, () => prompt(5, 6)))
  expect(parts.filter((part) => part === 0)).toHaveLength(12)
})
