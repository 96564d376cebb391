import { expect, test } from 'vitest'
import { createVectorEnvironment } from '../../environment/index.ts'
import { probe, probeNames } from '../../worlds/probes/index.ts'
import type { ProbeKind, ProbeName } from '../../worlds/probes/index.ts'
import type { ArrayAlgorithm } from './agent.ts'
import { ppo } from './ppo.ts'

interface Candidate {
  algorithm: ArrayAlgorithm
  kinds: readonly ProbeKind[]
  slots: number
  steps: number
  gamma: number
  /** Default: all of them. */
  probes?: readonly ProbeName[]
}

const gamma = 0.8

/** Small networks and high learning rates: each is done in a second. Algorithms without `values` have only their actions judged. */
const candidates: Record<string, Candidate> = {
  ppo: {
    kinds: ['discrete', 'continuous'],
    slots: 8,
    steps: 6_144,
    gamma,
    algorithm: ppo({
      rolloutSteps: 32,
      epochs: 4,
      minibatches: 2,
      learningRate: 1e-2,
      gamma,
      lambda: 0.9,
      clip: 0.2,
      clipValue: false,
      entropy: 0,
      valueWeight: 0.5,
      maxGradientNorm: 0.5,
      anneal: ['learningRate'],
      hidden: [16],
      activation: 'tanh',
    }),
  },
}

const rows = Object.entries(candidates).flatMap(([name, candidate]) =>
  candidate.kinds.flatMap((kind) =>
    (candidate.probes ?? probeNames).map((which) => ({ name, kind, which, candidate })),
  ),
)

test.each(rows)('$name, $kind actions: $which', async ({ candidate, kind, which }) => {
  const { world, values, actions } = probe(which, kind)
  const environment = createVectorEnvironment(world, { slots: candidate.slots, seed: 1 })
  environment.reset()
  const agent = await candidate.algorithm(environment, { seed: 1, totalSteps: candidate.steps })
  for (let step = 0; step < candidate.steps; step += candidate.slots) {
    await agent.act()
    environment.step()
    await agent.learn()
  }
  for (const [observation, value] of values?.(candidate.gamma) ?? []) {
    if (agent.values === undefined) continue
    const found = new Float32Array(1)
    agent.values(Float32Array.of(observation), 1, found)
    expect(Math.abs(found[0] - value), `value of ${observation}: ${found[0]}, not ${value}`).toBeLessThan(0.1)
  }
  for (const [observation, action] of actions ?? []) {
    const found = new Float32Array(1)
    agent.decide(Float32Array.of(observation), 1, found)
    expect(Math.abs(found[0] - action), `action for ${observation}: ${found[0]}, not ${action}`).toBeLessThan(
      kind === 'discrete' ? 0.5 : 0.15,
    )
  }
  await agent.dispose()
})
