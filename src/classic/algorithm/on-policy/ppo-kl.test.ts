import { expect, test } from 'vitest'
import { createVectorEnvironment } from '../../environment/index.ts'
import { cartPole } from '../../environments/control/cart-pole.ts'
import { adaptBeta } from './ppo-update.ts'
import { ppo, type PpoConfig, ppoPresets } from './ppo.ts'

/** Metrics of the updates of a short run. */
async function updates(config: Partial<PpoConfig>, steps: number): Promise<Record<string, number>[]> {
  const preset = ppoPresets['sb3-zoo-cartpole']
  const environment = createVectorEnvironment(cartPole, { numEnvs: preset.numEnvs, seed: 1 })
  environment.reset()
  const agent = await ppo({ ...preset, ...config })(environment, { seed: 1, totalSteps: steps })
  const found: Record<string, number>[] = []
  for (let step = 0; step < steps; step += preset.numEnvs) {
    await agent.act()
    environment.step()
    const metrics = await agent.learn()
    if (metrics !== undefined) found.push(metrics)
  }
  await agent.dispose()
  return found
}

const meanOf = (rows: Record<string, number>[], name: string): number =>
  rows.reduce((sum, row) => sum + row[name], 0) / rows.length

test('beta adapts to the divergence', () => {
  expect(adaptBeta(1, 0.01, 0.03)).toBe(0.5)
  expect(adaptBeta(1, 0.03, 0.03)).toBe(1)
  expect(adaptBeta(1, 0.05, 0.03)).toBe(2)
})

test('a target divergence ends updates early, so that the policy changes less', async () => {
  const free = await updates({}, 2048)
  const bound = await updates({ targetKl: 1e-4 }, 2048)
  expect(meanOf(bound, 'kl')).toBeLessThan(0.5 * meanOf(free, 'kl'))
})

test('a heavy penalty keeps the policy close, a light one does not', async () => {
  const light = await updates({ klPenalty: { beta: 1e-3, target: 1 } }, 2048)
  const heavy = await updates({ klPenalty: { beta: 1000, target: 1e-4 } }, 2048)
  expect(meanOf(heavy, 'kl')).toBeLessThan(0.2 * meanOf(light, 'kl'))
})
