import { expect, test } from 'vitest'
import { createRandom } from 'agoge/engine'
import { episode, rows, smallTd3, swingUp, torque } from './swing-up.ts'

test('pendulums hang almost at rest, and a weak motor alone does not lift them', () => {
  const pendulums = swingUp(3, 8)
  for (let i = 0; i < 8; i++) expect(pendulums.observations[3 * i]).toBeLessThan(-0.9)
  for (let step = 0; step < episode - 1; step++) {
    pendulums.actions.fill(torque)
    pendulums.step()
    for (let i = 0; i < 8; i++) expect(pendulums.observations[3 * i]).toBeLessThan(0.5)
  }
  expect(swingUp(3, 8).observations).toEqual(swingUp(3, 8).observations)
  expect(swingUp(3, 8).observations).not.toEqual(swingUp(4, 8).observations)
})

/** The greedy action where an action of `best` has the highest reward, after updates within bounds from `low` to `high`. */
async function learned(best: number, low: number, high: number): Promise<number> {
  const [agent, random] = [await smallTd3(1, 3e-3), createRandom('bandit', 1)]
  const drawn = (size: number) => Float32Array.from({ length: rows * size }, () => 2 * random.next() - 1)
  const bounds = { low: new Float32Array(rows).fill(low), high: new Float32Array(rows).fill(high) }
  for (let step = 0; step < 1000; step++) {
    const actions = drawn(1).map((v) => torque * v)
    const returns = actions.map((v) => -20 * (v / torque - best) ** 2)
    const batch = { observations: drawn(3), actions, returns, nextObservations: drawn(3) }
    await agent.update(batch, bounds, bounds)
  }
  const action = new Float32Array(1)
  agent.act(new Float32Array(3), 1, action)
  return action[0]
}

test('it learns the best action, and with bounds beyond which of them it lies', async () => {
  expect(Math.abs((await learned(0.5, -1, 1)) - 0.5)).toBeLessThan(0.15)
  expect(await learned(0.5, -0.3, 0.1)).toBeGreaterThan(0.1)
  expect(await learned(-0.5, -0.3, 0.1)).toBeLessThan(-0.3)
})
