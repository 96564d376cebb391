import { expect, test } from 'vitest'
import { createVectorEnvironment } from '../environment/index.ts'
import { combinationLock, lockDigit } from '../environments/grid/combination-lock.ts'
import { qLearning } from '../tabular/temporal-difference.ts'
import { learnUntil } from './learn-until.ts'

const length = 4
const greedy = { stepSize: 1, gamma: 0.9, epsilonStart: 1, epsilonEnd: 1, explorationFraction: 0 }

async function learner() {
  const environment = createVectorEnvironment(combinationLock, {
    numEnvs: 2,
    seed: 3,
    contextFor: () => ({ length }),
  })
  environment.reset()
  const agent = await qLearning(greedy)(environment, { seed: 3, totalSteps: 20_000 })
  const positions = Float32Array.from({ length }, (_, k) => k)
  const actions = new Float32Array(length)
  const opens = (): boolean => {
    agent.predict(positions, length, actions)
    return actions.every((action, k) => action === lockDigit(0, k))
  }
  return { environment, agent, opens }
}

test('learnUntil stops when until returns true, and the next call continues', async () => {
  const { environment, agent, opens } = await learner()
  const asked: number[] = []
  const found = await learnUntil(environment, agent, {
    steps: 20_000,
    every: 50,
    until(step) {
      asked.push(step)
      return opens()
    },
  })
  expect(found).toBeLessThan(20_000)
  expect(found % 50).toBe(0)
  expect(asked.at(-1)).toBe(found)
  expect(opens()).toBe(true)
  const more = await learnUntil(environment, agent, { steps: 100, every: 50, until: (step) => step === 100 })
  expect(more).toBe(100)
})

test('learnUntil returns Infinity if until never returns true', async () => {
  const { environment, agent } = await learner()
  let steps = 0
  const counting = {
    act: () => agent.act(),
    learn() {
      steps += 2
      return agent.learn()
    },
  }
  expect(await learnUntil(environment, counting, { steps: 31 })).toBe(Infinity)
  expect(steps).toBe(32)
})
