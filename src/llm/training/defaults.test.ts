import { expect, test } from 'vitest'
import { planForLora, smallModelPlan } from './defaults.ts'

test('with LoRA, AdamW has three times the learning rate, and Muon the same one', () => {
  const plan = planForLora(smallModelPlan)
  expect(plan.reinforcement.learningRate).toBeCloseTo(9e-4, 12)
  expect(plan.warmStart).toEqual(smallModelPlan.warmStart)
  const adamw = { ...smallModelPlan.warmStart, optimizer: 'adamw', learningRate: 1e-3 } as const
  expect(planForLora({ ...smallModelPlan, warmStart: adamw }).warmStart.learningRate).toBeCloseTo(3e-3, 12)
  expect(plan).toEqual({ ...smallModelPlan, reinforcement: plan.reinforcement })
})
