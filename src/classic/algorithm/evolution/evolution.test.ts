import { expect, test } from 'vitest'
import { defined } from '../../../defined.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { box, createVectorEnvironment, defineEnvironment, discrete } from '../../environment/index.ts'
import { cartPole } from '../../environments/control/cart-pole.ts'
import type { ClassicAlgorithm } from '../agent.ts'
import { counts, withBonus } from '../exploration/index.ts'
import { cmaEsStrategy, symmetricEigen } from './cma-es.ts'
import { cmaEs, openAiEs } from './evolution.ts'
import { centredRanks, type EvolutionStrategy, openAiEsStrategy } from './openai-es.ts'

/** Runs generations of a strategy on a function to minimise. Returns its value at the mean. */
function minimise(strategy: EvolutionStrategy, f: (x: Float32Array) => number, generations: number): number {
  const n = strategy.mean().length
  const candidates = new Float32Array(strategy.population * n)
  for (let g = 0; g < generations; g++) {
    strategy.ask(candidates)
    strategy.tell(
      Float64Array.from(
        { length: strategy.population },
        (_, c) => -f(candidates.subarray(c * n, (c + 1) * n)),
      ),
    )
  }
  return f(strategy.mean())
}

const ellipsoid = (x: Float32Array): number =>
  x.reduce((sum, v, i) => sum + 1000 ** (i / (x.length - 1)) * v * v, 0)
const rosenbrock = (x: Float32Array): number => {
  let sum = 0
  for (let i = 0; i + 1 < x.length; i++) sum += 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
  return sum
}

test('centred ranks are spaced evenly from -0.5 to 0.5', () => {
  expect([...centredRanks(Float64Array.of(30, -5, 10))]).toEqual([0.5, -0.5, 0])
})

test('eigenvectors rebuild a symmetric matrix', () => {
  const n = 6
  const random = createRandom('eigen', 1)
  const a = new Float64Array(n * n)
  for (let i = 0; i < n; i++) for (let j = 0; j <= i; j++) a[i * n + j] = a[j * n + i] = random.normal()
  const { values, vectors } = symmetricEigen(a, n)
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      let rebuilt = 0
      let dot = 0
      for (let k = 0; k < n; k++) {
        rebuilt += vectors[i * n + k] * values[k] * vectors[j * n + k]
        dot += vectors[k * n + i] * vectors[k * n + j]
      }
      expect(rebuilt).toBeCloseTo(a[i * n + j], 10)
      expect(dot).toBeCloseTo(i === j ? 1 : 0, 10)
    }
  }
})

test.each([
  { name: 'ellipsoid', f: ellipsoid, generations: 250 },
  { name: 'rosenbrock', f: rosenbrock, generations: 350 },
])('CMA-ES finds the minimum of the $name in 6 dimensions', ({ f, generations }) => {
  const strategy = cmaEsStrategy(
    new Float32Array(6).fill(3),
    { sigma: 0.5, population: 10 },
    createRandom('cma', 1),
  )
  expect(minimise(strategy, f, generations)).toBeLessThan(1e-6)
})

test("OpenAI's strategy approaches the minimum of a sphere", () => {
  const strategy = openAiEsStrategy(
    new Float32Array(6).fill(1),
    { sigma: 0.1, learningRate: 0.05, weightDecay: 0, population: 20 },
    createRandom('es', 1),
  )
  expect(minimise(strategy, (x) => x.reduce((sum, v) => sum + v * v, 0), 200)).toBeLessThan(0.05)
})

const policies: Record<string, ClassicAlgorithm> = {
  'openai-es': openAiEs({ sigma: 0.2, learningRate: 0.1, weightDecay: 0, hidden: [], activation: 'tanh' }),
  'cma-es': cmaEs({ sigma: 0.5, hidden: [], activation: 'tanh' }),
}

test.each(Object.keys(policies))('%s balances the pole with a linear policy', async (name) => {
  const numEnvs = 16
  const environment = createVectorEnvironment(cartPole, { numEnvs, seed: 1, maxSteps: 200 })
  environment.reset()
  const agent = await policies[name](environment, { seed: 1, totalSteps: 1 })
  let fitness = 0
  for (let step = 0; step < 4000 && fitness < 170; step++) {
    await agent.act()
    environment.step()
    fitness = (await agent.learn())?.fitness ?? fitness
  }
  expect(fitness).toBeGreaterThanOrEqual(170)
  await agent.dispose()
})

test('an odd number of environments is refused', async () => {
  const environment = createVectorEnvironment(cartPole, { numEnvs: 5 })
  await expect(policies['openai-es'](environment, { seed: 1, totalSteps: 1 })).rejects.toMatchObject({
    code: 'bad-argument',
  })
})

/** Episodes whose length comes from the context. Every step pays 1. */
const countdown = defineEnvironment({
  name: 'countdown',
  observation: box([1], 0, 99),
  action: discrete(2),
  context: { length: { default: 3, low: 1, high: 99, about: 'steps of an episode' } },
  stateSize: 1,
  reset({ state }, i) {
    state[i] = 0
  },
  step({ state, context, rewards, terminated }, i) {
    state[i]++
    rewards[i] = 1
    terminated[i] = state[i] >= context.length[i] ? 1 : 0
  },
  observe({ state, observations }, i) {
    observations[i] = state[i]
  },
})
const unequal = { numEnvs: 4, contextFor: (envIndex: number) => ({ length: 2 + envIndex }) }
const small = { sigma: 0.2, learningRate: 0.1, weightDecay: 0, hidden: [], activation: 'tanh' } as const

test.each([undefined, { kind: 'transformer', window: 2, size: 4 } as const])(
  'every candidate plays one whole episode, with encoder %o',
  async (encoder) => {
    const environment = createVectorEnvironment(countdown, unequal)
    environment.reset()
    const algorithm = openAiEs({ ...small, ...defined({ encoder }) })
    const agent = await algorithm(environment, { seed: 1, totalSteps: 1 })
    for (let generation = 0; generation < 3; generation++) {
      for (let step = 0; step < 5; step++) {
        await agent.act()
        expect([...environment.observations].map((at, envIndex) => at === step % (2 + envIndex))).toEqual(
          Array(4).fill(true),
        )
        environment.step()
        const metrics = await agent.learn()
        expect(metrics?.fitness).toBe(step === 4 ? (2 + 3 + 4 + 5) / 4 : undefined)
      }
    }
    await agent.dispose()
  },
)

test('a bonus is part of the fitness', async () => {
  const environment = createVectorEnvironment(countdown, unequal)
  environment.reset()
  const agent = await withBonus(openAiEs(small), counts(), 10)(environment, { seed: 1, totalSteps: 1 })
  let metrics
  for (let step = 0; step < 5; step++) {
    await agent.act()
    environment.step()
    metrics = await agent.learn()
  }
  // Only the first step is new to all of them: 10 for each.
  expect(metrics?.fitness).toBeGreaterThan(3.5 + 10)
  await agent.dispose()
})

test('an episode that does not end is reported', async () => {
  const environment = createVectorEnvironment(countdown, { numEnvs: 4, contextFor: () => ({ length: 99 }) })
  environment.reset()
  const agent = await cmaEs({ ...small, maxEpisodeSteps: 20 })(environment, { seed: 1, totalSteps: 1 })
  let steps = 0
  const play = async (): Promise<void> => {
    for (; steps < 99; steps++) {
      await agent.act()
      environment.step()
      await agent.learn()
    }
  }
  await expect(play()).rejects.toMatchObject({
    code: 'endless-episode',
    given: { environment: 'countdown', envIndex: 0, step: 20, field: 'terminated' },
  })
  expect(steps).toBe(19)
})
