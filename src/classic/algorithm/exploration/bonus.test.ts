import { expect, test } from 'vitest'
import { createVectorEnvironment } from '../../environment/index.ts'
import { createRandom } from '../../../engine/random/index.ts'
import type { EnvironmentDefinition } from '../../environment/index.ts'
import type { Encoder } from '../../policy/index.ts'
import { cartPole } from '../../environments/control/cart-pole.ts'
import { maze } from '../../environments/grid/maze.ts'
import { cliffWalking } from '../../environments/toy-text/cliff-walking.ts'
import { frozenLake } from '../../environments/toy-text/frozen-lake.ts'
import type { ClassicAlgorithm } from '../agent.ts'
import { ppo, ppoPresets } from '../on-policy/ppo.ts'
import { counts, icm, rnd, withBonus } from './index.ts'
import type { MakeBonus } from './index.ts'
import { runningMoments } from './bonus.ts'

const numEnvs = 4
const options = { numEnvs, seed: 1, threads: 1 }

/** Rows of observations around `centre`. */
function around(centre: number, seed: number): Float32Array {
  const random = createRandom('rows', seed)
  return Float32Array.from({ length: numEnvs * 4 }, () => centre + 0.3 * random.normal())
}

async function meanBonus(
  bonus: Awaited<ReturnType<MakeBonus>>,
  now: Float32Array,
  actions: Float32Array,
  next: Float32Array,
): Promise<number> {
  const out = new Float64Array(numEnvs)
  bonus.bonus(now, actions, next, numEnvs, out)
  return out.reduce((a, b) => a + b, 0) / numEnvs
}

test('counts give 1 / sqrt(n) for the n-th visit to the next state', async () => {
  const bonus = await counts()(cartPole, options)
  const out = new Float64Array(2)
  const now = new Float32Array(8)
  const next = Float32Array.of(0, 0, 0, 0, 1, 0, 0, 0)
  const actions = Float32Array.of(0, 1)
  bonus.bonus(now, actions, next, 2, out)
  expect([...out]).toEqual([1, 1])
  for (let i = 0; i < 3; i++) void bonus.learn(now, actions, next.subarray(0, 4), 1)
  bonus.bonus(now, actions, next, 2, out)
  expect([...out]).toEqual([0.5, 1])
  const restored = await counts()(cartPole, options)
  restored.restore(structuredClone(bonus.state()))
  restored.bonus(now, actions, next, 2, out)
  expect([...out]).toEqual([0.5, 1])
})

test('counts of pairs distinguish actions, and hashed counts group similar observations', async () => {
  const pairs = await counts({ withActions: true })(cartPole, options)
  const hashed = await counts({ hashBits: 8 })(cartPole, options)
  const out = new Float64Array(2)
  const now = new Float32Array(8)
  const next = Float32Array.of(1, 1, 1, 1, 1.001, 1.001, 1.001, 1.001)
  void pairs.learn(now, Float32Array.of(0), next, 1)
  pairs.bonus(now, Float32Array.of(0, 1), next, 2, out)
  expect(out[0]).toBeLessThan(1)
  expect(out[1]).toBe(1)
  void hashed.learn(now, Float32Array.of(0), next, 1)
  hashed.bonus(now, Float32Array.of(0, 1), next, 2, out)
  expect(out[1]).toBe(out[0])
  hashed.bonus(
    now,
    Float32Array.of(0, 1),
    next.map((v) => -v),
    2,
    out,
  )
  expect(out[0]).toBe(1)
})

test('running moments equal the mean and deviation of all rows', () => {
  const moments = runningMoments(1)
  for (const value of [1, 2, 6]) moments.update([value], 1)
  expect(moments.mean[0]).toBeCloseTo(3)
  expect(moments.deviation(0)).toBeCloseTo(Math.sqrt(14 / 3))
})

test.each([
  { name: 'rnd', make: rnd({ batchSize: 32, learningRate: 3e-3, hidden: [32] }) },
  { name: 'icm', make: icm({ batchSize: 32, learningRate: 3e-3, hidden: [32] }) },
])('the bonus of $name is high for new observations and falls for known ones', async ({ name, make }) => {
  const bonus = await make(cartPole, options)
  const actions = Float32Array.of(0, 1, 0, 1)
  // The next observation is one step to the left or right, so that the action can be inferred.
  const after = (now: Float32Array): Float32Array =>
    now.map((value, i) => value + (actions[Math.floor(i / 4)] === 1 ? 0.5 : -0.5))
  const diagnostic = around(0, 999)
  const far = around(4, 998)
  // Lets the scales of observations and bonuses settle first.
  for (let i = 0; i < 16; i++) await bonus.learn(around(0, i), actions, after(around(0, i)), numEnvs)
  const first = await meanBonus(bonus, diagnostic, actions, after(diagnostic))
  for (let i = 16; i < 2000; i++) await bonus.learn(around(0, i), actions, after(around(0, i)), numEnvs)
  const known = await meanBonus(bonus, diagnostic, actions, after(diagnostic))
  expect(known).toBeLessThan(await meanBonus(bonus, far, actions, after(far)))
  if (name === 'rnd') expect(known).toBeLessThan(0.5 * first)
  const restored = await make(cartPole, { ...options, seed: 1 })
  restored.restore(structuredClone(bonus.state()))
  expect(await meanBonus(restored, diagnostic, actions, after(diagnostic))).toBe(known)
  await bonus.dispose()
  await restored.dispose()
})

test('the learner sees reward plus bonus, and the environment keeps the rewards of the task', async () => {
  const seen: number[][] = []
  const spy: ClassicAlgorithm = (environment) =>
    Promise.resolve({
      act: () => void environment.actions.fill(0),
      learn: () => {
        seen.push([...environment.rewards])
        return { loss: 0 }
      },
      predict: () => {},
      state: () => undefined,
      restore: () => {},
      dispose: () => Promise.resolve(),
    })
  const environment = createVectorEnvironment(cartPole, { numEnvs: 1, seed: 1 })
  environment.reset()
  const agent = await withBonus(
    spy,
    counts({ resolution: 1e6 }),
    0.5,
  )(environment, { seed: 1, totalSteps: 4 })
  let metrics
  for (let t = 0; t < 4; t++) {
    await agent.act()
    environment.step()
    metrics = await agent.learn()
    expect(environment.rewards[0]).toBe(1)
  }
  // One state for all environments: 1, 1 / sqrt 2, ...
  expect(seen.flat()).toEqual([1, 2, 3, 4].map((n) => 1 + 0.5 / Math.sqrt(n)))
  expect(metrics?.bonus).toBe(0.5)
})

test('PPO learns with a bonus, and resumes exactly from its state', async () => {
  const algorithm = withBonus(
    ppo({ ...ppoPresets.cleanrl, hidden: [16], rolloutSteps: 16 }),
    rnd({ batchSize: 32, hidden: [16] }),
    0.1,
  )
  const make = async () => {
    const environment = createVectorEnvironment(cartPole, { numEnvs, seed: 2 })
    environment.reset()
    return { environment, agent: await algorithm(environment, { seed: 2, totalSteps: 200 }) }
  }
  const run = async (interrupt: boolean) => {
    let { environment, agent } = await make()
    let metrics: Record<string, number> | undefined
    for (let t = 0; t < 48; t++) {
      if (interrupt && t === 21) {
        const saved = structuredClone([environment.state(), agent.state()] as const)
        await agent.dispose()
        ;({ environment, agent } = await make())
        environment.restore(saved[0])
        agent.restore(saved[1])
      }
      await agent.act()
      environment.step()
      metrics = (await agent.learn()) ?? metrics
    }
    await agent.dispose()
    return metrics
  }
  const whole = await run(false)
  expect(whole?.bonus).toBeGreaterThan(0)
  expect(await run(true)).toEqual(whole)
})

test('rnd treats discrete observations as unordered', async () => {
  // Trained on all states but one. States with nearby numbers are as new as the others.
  const bonus = await rnd({ batchSize: 16, learningRate: 1e-2, hidden: [32] })(frozenLake, {
    numEnvs: 1,
    seed: 1,
    threads: 1,
  })
  const random = createRandom('states')
  for (let t = 0; t < 4000; t++) {
    const state = random.int(15)
    const next = Float32Array.of(state >= 7 ? state + 1 : state)
    await bonus.learn(Float32Array.of(random.int(6)), Float32Array.of(random.int(4)), next, 1)
  }
  const of = (state: number): number => {
    const out = new Float64Array(1)
    bonus.bonus(Float32Array.of(0), Float32Array.of(0), Float32Array.of(state), 1, out)
    return out[0]
  }
  expect(of(7)).toBeGreaterThan(2 * Math.max(of(6), of(8)))
  await bonus.dispose()
})

const encoders: readonly [string, EnvironmentDefinition, Encoder][] = [
  ['cnn', maze, { kind: 'cnn', layers: [{ channels: 4, kernel: 3 }] }],
  ['gru', cartPole, { kind: 'gru', size: 4, window: 3 }],
  ['transformer', frozenLake, { kind: 'transformer', size: 4, heads: 2, window: 3 }],
]
test.each(
  encoders.flatMap(([kind, definition, encoder]) =>
    [rnd, icm].map((make) => ({ kind, definition, encoder, make })),
  ),
)('the networks of $make.name take an encoder: $kind', async ({ definition, encoder, make }) => {
  const environment = createVectorEnvironment(definition, { numEnvs, seed: 2 })
  environment.reset()
  const algorithm = withBonus(
    ppo({ ...ppoPresets.cleanrl, hidden: [8], rolloutSteps: 16 }),
    make({ batchSize: 16, hidden: [8], encoder }),
    0.1,
  )
  const agent = await algorithm(environment, { seed: 2, totalSteps: 200 })
  let metrics
  for (let t = 0; t < 32; t++) {
    await agent.act()
    environment.step()
    metrics = (await agent.learn()) ?? metrics
  }
  expect(metrics?.bonus).toBeGreaterThan(0)
  await agent.dispose()
})

test('a bonus with a window sees the last observations of the episode', async () => {
  const given: number[][] = []
  const make: MakeBonus = Object.assign(
    () =>
      Promise.resolve({
        bonus: (_: Float32Array, __: Float32Array, next: Float32Array) => void given.push([...next]),
        learn: () => undefined,
        state: () => null,
        restore: () => {},
        dispose: () => Promise.resolve(),
      }),
    { window: 2 },
  )
  const environment = createVectorEnvironment(cliffWalking, { numEnvs: 1, seed: 1, maxSteps: 2 })
  environment.reset()
  const up: ClassicAlgorithm = () =>
    Promise.resolve({
      act: () => void environment.actions.fill(0),
      learn: () => undefined,
      predict: () => {},
      state: () => null,
      restore: () => {},
      dispose: () => Promise.resolve(),
    })
  const agent = await withBonus(up, make, 1)(environment, { seed: 1, totalSteps: 4 })
  for (let t = 0; t < 4; t++) {
    await agent.act()
    environment.step()
    await agent.learn()
  }
  // From 36 to 24 and 12, where the limit truncates, twice.
  expect(given).toEqual([
    [36, 24],
    [24, 12],
    [36, 24],
    [24, 12],
  ])
})
