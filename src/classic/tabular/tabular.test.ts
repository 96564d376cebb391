import { expect, test } from 'vitest'
import { createVectorEnvironment } from '../environment/index.ts'
import type { FiniteDefinition } from '../environment/index.ts'
import { cliffWalking, cliffWalkingSlippery } from '../environments/toy-text/cliff-walking.ts'
import { frozenLake, frozenLake8x8 } from '../environments/toy-text/frozen-lake.ts'
import { taxi } from '../environments/toy-text/taxi.ts'
import type { ClassicAlgorithm } from '../algorithm/agent.ts'
import {
  doubleQLearning,
  expectedSarsa,
  nStepSarsa,
  qLambda,
  qLearning,
  sarsa,
  sarsaLambda,
} from './temporal-difference.ts'
import {
  evaluatePolicy,
  finiteHorizon,
  policyIteration,
  startValue,
  valueIteration,
} from './dynamic-programming.ts'

test.each([
  { definition: frozenLake, steps: 100, expected: 0.7442 },
  { definition: frozenLake8x8, steps: 200, expected: 0.9132 },
  { definition: taxi, steps: 200, expected: 7.93 },
  { definition: cliffWalking, steps: 500, expected: -13 },
  { definition: cliffWalkingSlippery, steps: 2000, expected: -64.71 },
])('the optimal value of an episode is $expected', ({ definition, steps, expected }) => {
  const model = definition.transitions()
  expect(startValue(model, finiteHorizon(model, steps))).toBeCloseTo(expected, 2)
})

test.each([frozenLake, cliffWalkingSlippery])('value and policy iteration agree', (definition) => {
  const model = definition.transitions()
  const swept = valueIteration(model, { gamma: 0.95 })
  const improved = policyIteration(model, { gamma: 0.95 })
  swept.values.forEach((value, state) => expect(improved.values[state]).toBeCloseTo(value, 6))
  evaluatePolicy(model, swept.policy, { gamma: 0.95 }).forEach((value, state) =>
    expect(value).toBeCloseTo(swept.values[state], 6),
  )
})

test('values that do not converge are reported', () => {
  expect(() => evaluatePolicy(cliffWalking.transitions(), new Int32Array(48), { maxSweeps: 100 })).toThrow(
    expect.objectContaining({ code: 'not-converged' }),
  )
})

async function learn(algorithm: ClassicAlgorithm, definition: FiniteDefinition, steps: number) {
  const environment = createVectorEnvironment(definition, { numEnvs: 2, seed: 1, maxSteps: 200 })
  environment.reset()
  const agent = await algorithm(environment, { seed: 1, totalSteps: steps })
  for (let k = 0; k < steps; k += 2) {
    await agent.act()
    environment.step()
    await agent.learn()
  }
  const model = definition.transitions()
  const policy = new Float32Array(model.states)
  agent.predict(
    Float32Array.from(policy, (_, state) => state),
    model.states,
    policy,
  )
  const value = (horizon: number): number =>
    startValue(model, evaluatePolicy(model, policy, { steps: horizon }))
  return { value }
}

const fixed = { gamma: 1, epsilonStart: 0.1, epsilonEnd: 0.1, explorationFraction: 0 }

test('Q-learning finds the optimal policy of CliffWalking and of Taxi', async () => {
  const sure = qLearning({ ...fixed, stepSize: 1 })
  const cliff = await learn(sure, cliffWalking, 20_000)
  expect(cliff.value(200)).toBe(-13)
  const cab = await learn(sure, taxi, 400_000)
  const model = taxi.transitions()
  expect(cab.value(200)).toBeCloseTo(startValue(model, finiteHorizon(model, 200)), 6)
})

const onPolicy = { ...fixed, stepSize: 0.3 }
test.each<[string, ClassicAlgorithm, number]>([
  ['Sarsa', sarsa(onPolicy), -17],
  ['expected Sarsa', expectedSarsa(onPolicy), -17],
  ['3-step Sarsa', nStepSarsa({ ...onPolicy, stepSize: 0.1, nSteps: 3 }), -19],
  ['Sarsa(lambda)', sarsaLambda({ ...onPolicy, stepSize: 0.1, lambda: 0.8 }), -19],
  // Each of two tables learns half as fast, so states beside the best path need more visits.
  [
    'double Q-learning',
    doubleQLearning({ ...fixed, epsilonStart: 0.5, epsilonEnd: 0.5, stepSize: 0.5 }),
    -13,
  ],
  ['Q(lambda)', qLambda({ ...fixed, stepSize: 0.5, lambda: 0.8 }), -13],
])('%s crosses the cliff', async (_, algorithm, atLeast) => {
  const { value } = await learn(algorithm, cliffWalking, 150_000)
  expect(value(200)).toBeGreaterThanOrEqual(atLeast)
})

test('Sarsa learns the safer path, away from the cliff', async () => {
  const { value } = await learn(sarsa(onPolicy), cliffWalking, 60_000)
  expect(value(200)).toBeLessThan(-13)
})
