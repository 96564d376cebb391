import { expect, test } from 'vitest'
import { createVectorEnvironment } from '../../environment/index.ts'
import { cartPole } from '../../environments/control/cart-pole.ts'
import type { ClassicAlgorithm } from '../agent.ts'
import { a2c, a2cPresets } from './a2c.ts'
import { reinforce } from './reinforce.ts'

/** Mean length of the episodes that ended in the first and in the last quarter of a run. */
async function lengths(
  algorithm: ClassicAlgorithm,
  numEnvs: number,
  steps: number,
): Promise<[number, number]> {
  const environment = createVectorEnvironment(cartPole, { numEnvs, seed: 1 })
  environment.reset()
  const agent = await algorithm(environment, { seed: 1, totalSteps: steps })
  const ended: [number[], number[]] = [[], []]
  for (let step = 0; step < steps; step += numEnvs) {
    await agent.act()
    environment.step()
    const which = step < steps / 4 ? 0 : step >= (3 * steps) / 4 ? 1 : undefined
    for (let i = 0; i < numEnvs; i++) {
      const over = environment.terminated[i] === 1 || environment.truncated[i] === 1
      if (over && which !== undefined) ended[which].push(environment.lengths[i])
    }
    await agent.learn()
  }
  await agent.dispose()
  const mean = (values: number[]): number => values.reduce((a, b) => a + b, 0) / values.length
  return [mean(ended[0]), mean(ended[1])]
}

const small = { hidden: [32], activation: 'tanh' } as const

test('A2C improves on CartPole', async () => {
  const [first, last] = await lengths(
    a2c({ ...a2cPresets['sb3-zoo-cartpole'], ...small, learningRate: 3e-3 }),
    8,
    12_000,
  )
  expect(last).toBeGreaterThan(1.5 * first)
})

test.each([
  { baseline: false, normaliseAdvantages: true },
  { baseline: true, normaliseAdvantages: false },
])('REINFORCE improves on CartPole (baseline $baseline)', async (kind) => {
  const config = {
    ...kind,
    ...small,
    episodes: 8,
    learningRate: 1e-2,
    gamma: 0.98,
    entropy: 0,
    valueWeight: 0.5,
  }
  const [first, last] = await lengths(reinforce(config), 8, 12_000)
  expect(last).toBeGreaterThan(1.5 * first)
})

test('A2C resumes exactly from its state', async () => {
  const run = async (interrupt: boolean): Promise<Float32Array> => {
    const config = { ...a2cPresets['sb3-zoo-cartpole'], ...small }
    const make = async () => {
      const environment = createVectorEnvironment(cartPole, { numEnvs: 4, seed: 3 })
      environment.reset()
      return { environment, agent: await a2c(config)(environment, { seed: 3, totalSteps: 400 }) }
    }
    let { environment, agent } = await make()
    for (let t = 0; t < 100; t++) {
      if (interrupt && t === 53) {
        const saved = structuredClone([environment.state(), agent.state()] as const)
        await agent.dispose()
        ;({ environment, agent } = await make())
        environment.restore(saved[0])
        agent.restore(saved[1])
      }
      await agent.act()
      environment.step()
      await agent.learn()
    }
    await agent.dispose()
    return (agent.state() as { parameters: Float32Array }).parameters
  }
  expect(await run(true)).toEqual(await run(false))
})
