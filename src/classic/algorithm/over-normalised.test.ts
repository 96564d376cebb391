import { expect, test } from 'vitest'
import { box, createVectorEnvironment } from '../environment/index.ts'
import type { EnvironmentDefinition } from '../environment/index.ts'
import { scripted, wrapperGolden } from '../environment/testing/definitions.ts'
import { cartPole } from '../environments/control/cart-pole.ts'
import { frozenLake } from '../environments/toy-text/frozen-lake.ts'
import { overNormalised } from './wrap-algorithm.ts'
import { ppo, ppoPresets } from './on-policy/ppo.ts'

const { numEnvs, ...preset } = ppoPresets['sb3-zoo-cartpole']
const { observe } = cartPole

/** CartPole in other units, and with larger rewards. Powers of two round the same. */
const elsewhere: EnvironmentDefinition = {
  ...cartPole,
  observation: box([4], -Infinity, Infinity),
  observe(state, i) {
    observe(state, i)
    for (let k = 0; k < 4; k++) state.observations[i * 4 + k] = 1024 * state.observations[i * 4 + k]
  },
  step(state, i, random) {
    cartPole.step(state, i, random)
    state.rewards[i] *= 128
  },
}

const make = async (definition: EnvironmentDefinition, normalise: boolean, steps = 100_000) => {
  const environment = createVectorEnvironment(definition, { numEnvs, seed: 1 })
  environment.reset()
  const agent = await ppo({ ...preset, hidden: [16], normalise })(environment, { seed: 1, totalSteps: steps })
  return { environment, agent }
}

async function play(
  { environment, agent }: Awaited<ReturnType<typeof make>>,
  steps: number,
): Promise<number[]> {
  const actions: number[] = []
  for (let t = 0; t < steps; t++) {
    await agent.act()
    actions.push(...environment.actions)
    environment.step()
    await agent.learn()
  }
  return actions
}

test.each([true, false])(
  'units of observations and rewards have no effect if and only if they are normalised: %s',
  async (normalise) => {
    const [here, there] = [await make(cartPole, normalise), await make(elsewhere, normalise)]
    const [one, other] = [await play(here, 150), await play(there, 150)]
    const different = one.filter((action, i) => action !== other[i]).length / one.length
    if (normalise) expect(different).toBe(0)
    else expect(different).toBeGreaterThan(0.02)

    // After four updates, both agents choose the same actions, each in its own units.
    const [actions, others] = [new Float32Array(numEnvs), new Float32Array(numEnvs)]
    here.agent.predict(here.environment.observations, numEnvs, actions)
    const same = here.environment.observations.map((x) => 1024 * x)
    there.agent.predict(same, numEnvs, others)
    if (normalise) expect(others).toEqual(actions)
    await here.agent.dispose()
    await there.agent.dispose()
  },
)

test('a normalised learner resumes exactly, with its statistics', async () => {
  const first = await make(cartPole, true)
  await play(first, 70)
  const saved = structuredClone([first.environment.state(), first.agent.state()] as const)
  const expected = await play(first, 70)
  const second = await make(cartPole, true)
  second.environment.restore(saved[0])
  second.agent.restore(saved[1])
  expect(await play(second, 70)).toEqual(expected)
  await first.agent.dispose()
  await second.agent.dispose()
})

test('discrete observations stay unchanged, and rewards are normalised', async () => {
  const sizeOf = (state: unknown): number => (state as { parameters: Float32Array }).parameters.length
  const plain = await make(frozenLake, false)
  const normalised = await make(frozenLake, true)
  const { agent, statistics } = normalised.agent.state() as { agent: unknown; statistics: { arrays: object } }
  expect(sizeOf(agent)).toBe(sizeOf(plain.agent.state()))
  // Sixteen states, each with its own weights in actor and critic.
  expect(sizeOf(agent)).toBeGreaterThan(2 * 16 * 16)
  expect(Object.keys(statistics.arrays)).toContain('discounted')
  await play(normalised, 70)
  const saved = structuredClone([normalised.environment.state(), normalised.agent.state()] as const)
  const expected = await play(normalised, 70)
  const again = await make(frozenLake, true)
  again.environment.restore(saved[0])
  again.agent.restore(saved[1])
  expect(await play(again, 70)).toEqual(expected)
  for (const { agent: one } of [plain, normalised, again]) await one.dispose()
})

test('normalised rewards equal Gymnasium’s NormalizeReward, clipped at 10', async () => {
  const environment = scripted(1, 'same-step')
  environment.reset()
  const seen: number[][] = []
  const agent = await overNormalised(
    ({ rewards }) =>
      Promise.resolve({
        act: () => {},
        learn: () => void seen.push([...rewards]),
        predict: () => {},
        state: () => null,
        restore: () => {},
        dispose: () => Promise.resolve(),
      }),
    0.9,
  )(environment, { seed: 1, totalSteps: 100 })
  const rows = wrapperGolden.scalar.normaliseRewards
  const over = (t: number): boolean => rows[t][2] || rows[t][3]
  const golden = rows.flatMap(([, reward], t) => (t === 0 || over(t - 1) ? [] : [reward]))
  expect(rows.some(([, , terminated, truncated]) => truncated && !terminated)).toBe(true)
  for (const reward of golden) {
    await agent.act()
    environment.step()
    await agent.learn()
    expect(seen.at(-1)).toEqual([expect.closeTo(Math.max(-10, Math.min(10, reward)), 12)])
  }
})
