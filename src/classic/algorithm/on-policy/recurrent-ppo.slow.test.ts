import { expect, test } from 'vitest'
import { createVectorEnvironment } from '../../environment/index.ts'
import { cartPolePositions } from '../../environments/control/cart-pole.ts'
import type { ClassicAgent } from '../agent.ts'
import { ppo, type PpoConfig, ppoPresets } from './ppo.ts'

const { numEnvs, ...preset } = ppoPresets['sb3-zoo-cartpole']

/** A run of one update on CartPole without velocities, in which episodes end at any step. */
async function begin(config: Partial<PpoConfig>) {
  const environment = createVectorEnvironment(cartPolePositions, { numEnvs, seed: 1 })
  environment.reset()
  const agent = await ppo({ ...preset, rolloutSteps: 64, hidden: [16], ...config })(environment, {
    seed: 1,
    totalSteps: 4096,
  })
  return { environment, agent }
}

async function play(
  { environment, agent }: Awaited<ReturnType<typeof begin>>,
  steps: number,
): Promise<Record<string, number>[]> {
  const metrics: Record<string, number>[] = []
  for (let step = 0; step < steps; step++) {
    await agent.act()
    environment.step()
    const found = await agent.learn()
    if (found !== undefined) metrics.push(found)
  }
  return metrics
}

const encoders = {
  'carried gru': { kind: 'gru', size: 12 },
  'carried gru in short sequences': { kind: 'gru', size: 12, sequence: 8 },
  'gru over a window': { kind: 'gru', size: 12, window: 4 },
  transformer: { kind: 'transformer', size: 12, window: 4 },
} as const

test.each(Object.entries(encoders))(
  '%s: the update recomputes the log-probabilities and values of acting',
  async (_, encoder) => {
    // High learning rates, so that the policy soon differs from uniform. Before an optimiser step, old and new
    // policy are equal.
    const once = await begin({ encoder, learningRate: 0.02, epochs: 1, minibatches: 1 })
    for (const { kl } of await play(once, 64 * 6)) expect(Math.abs(kl)).toBeLessThan(2e-6)
    const often = await begin({ encoder, learningRate: 0.02, epochs: 6, minibatches: 1 })
    const changes = (await play(often, 64 * 6)).map(({ kl }) => kl)
    expect(Math.max(...changes)).toBeGreaterThan(1e-3)
    await once.agent.dispose()
    await often.agent.dispose()
  },
)

test('predict reads and writes the memory that it is given', async () => {
  const run = await begin({ encoder: encoders['carried gru in short sequences'], epochs: 1, minibatches: 1 })
  const { agent } = run
  const [actions, again] = [new Float32Array(2), new Float32Array(2)]
  await play(run, 64)
  const memory = new Float32Array(2 * agent.memorySize!)
  const x = Float32Array.of(1, 0.1, -1, -0.1)
  agent.predict(x, 2, actions, undefined, memory)
  const once = memory.slice()
  expect(once.every((value) => value !== 0)).toBe(true)
  agent.predict(x, 2, again, undefined, memory)
  expect(memory).not.toEqual(once)
  // Without a memory it is the first step of an episode.
  agent.predict(x, 2, again)
  expect(again).toEqual(actions)
  await agent.dispose()
})

test.each(Object.entries(encoders))('%s: a restored run continues exactly', async (_, encoder) => {
  const settings = { encoder, epochs: 2, minibatches: 2 }
  const whole = await begin(settings)
  await play(whole, 100)
  const saved = structuredClone({ environment: whole.environment.state(), agent: whole.agent.state() })
  const expected = await play(whole, 100)
  const second = await begin(settings)
  second.environment.restore(saved.environment)
  second.agent.restore(saved.agent)
  expect(await play(second, 100)).toEqual(expected)
  expect(strip(second.agent)).toEqual(strip(whole.agent))
  await whole.agent.dispose()
  await second.agent.dispose()
})

const strip = (agent: ClassicAgent): unknown => structuredClone(agent.state())

test('sequences that do not divide the rollout are refused', async () => {
  await expect(begin({ encoder: { kind: 'gru', sequence: 10 } })).rejects.toMatchObject({
    code: 'bad-argument',
  })
})
