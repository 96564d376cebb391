import { expect, test } from 'vitest'
import { createVectorEnvironment } from '../environment/index.ts'
import { smallLearners } from './testing/small-learners.ts'
import type { SmallLearner, SmallLearnerName } from './testing/small-learners.ts'

const names = Object.keys(smallLearners) as SmallLearnerName[]

/** Steps of all environments before the interruption, which falls between two updates, and after it. */
const [before, after] = [61, 53]

async function begin({ definition, algorithm, numEnvs }: SmallLearner, seed: number) {
  const environment = createVectorEnvironment(definition, { numEnvs, seed, maxSteps: 60 })
  environment.reset()
  const agent = await algorithm(environment, { seed, totalSteps: numEnvs * (before + after) })
  const whole = (): unknown => structuredClone({ environment: environment.state(), agent: agent.state() })
  return { environment, agent, whole }
}

async function play({ environment, agent }: Awaited<ReturnType<typeof begin>>, steps: number) {
  const metrics: unknown[] = []
  for (let t = 0; t < steps; t++) {
    await agent.act()
    environment.step()
    metrics.push([...environment.actions], await agent.learn())
  }
  return metrics
}

test.each(names)('%s: a restored run continues bit for bit', async (name) => {
  const first = await begin(smallLearners[name], 3)
  await play(first, before)
  const saved = first.whole() as { environment: never; agent: unknown }
  const expected = await play(first, after)
  // Another seed, so that everything equal comes from the state.
  const second = await begin(smallLearners[name], 4)
  await play(second, 7)
  second.environment.restore(saved.environment)
  second.agent.restore(saved.agent)
  expect(second.whole()).toEqual(saved)
  expect(await play(second, after)).toEqual(expected)
  expect(second.whole()).toEqual(first.whole())
  expect(first.whole()).not.toEqual(saved)
  await first.agent.dispose()
  await second.agent.dispose()
})
