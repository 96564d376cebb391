import { expect, test } from 'vitest'
import { copyWeights } from './text-model.ts'
import { chainTask } from './tasks.ts'
import { createTestbed } from './testbed.ts'

test('runs start with the competence, gain by training, and repeat bit for bit', async () => {
  const testbed = createTestbed({ task: (seed) => chainTask({ seed, operations: 'abcd' }) })
  const weights: Float32Array[] = []
  const settings = { algorithm: 'grpo', learningRate: 6e-4, steps: 8 }
  const results = []
  for (let i = 0; i < 2; i++)
    results.push(
      await testbed(107, async ({ model, train }) => {
        const steps = await train(settings)
        expect(steps.map(({ optimiserSteps }) => optimiserSteps).every((count) => count <= 4)).toBe(true)
        expect(steps[0].entropy).toBeGreaterThan(0)
        weights.push(copyWeights(model))
      }),
    )
  expect(Math.abs(results[0].warm.passAt1 - 0.3)).toBeLessThan(0.02)
  expect(weights[1]).toEqual(weights[0])
  expect(results[1].end).toBe(results[0].end)
  expect(results[0].end).toBeGreaterThan(results[0].start)
  expect(results[0].kl).toBeGreaterThan(0)
})
