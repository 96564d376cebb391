import { expect, test } from 'vitest'
import { createVectorEnvironment } from '../environment/index.ts'
import type { EnvironmentDefinition } from '../environment/index.ts'
import { cartPole } from '../environments/control/cart-pole.ts'
import { pendulum } from '../environments/control/pendulum.ts'
import { a2c, a2cPresets } from './on-policy/a2c.ts'
import { type ClassicAlgorithm, stateOfArray, stateOfParts, stateOfValue } from './agent.ts'
import { ppo, ppoPresets } from './on-policy/ppo.ts'
import { td3, td3Presets } from './actor-critic/td3.ts'

test('state returns copies of the parts, and restore writes them back', () => {
  const array = Float32Array.of(1, 2)
  let value = { n: 3 }
  const stateDict = stateOfParts({
    array: stateOfArray(array),
    inner: stateOfParts({
      value: stateOfValue(
        () => value,
        (given) => (value = given),
      ),
    }),
  })
  const saved = stateDict.state()
  expect(saved).toEqual({ array: Float32Array.of(1, 2), inner: { value: { n: 3 } } })
  array[0] = 9
  value.n = 9
  expect(saved).toEqual({ array: Float32Array.of(1, 2), inner: { value: { n: 3 } } })
  stateDict.restore(saved)
  expect([...array, value.n]).toEqual([1, 2, 3])
})

const learner = async (algorithm: ClassicAlgorithm, definition: EnvironmentDefinition) => {
  const environment = createVectorEnvironment(definition, { numEnvs: 2, seed: 1 })
  environment.reset()
  return algorithm(environment, { seed: 1, totalSteps: 100 })
}

test.each<[string, EnvironmentDefinition, (hidden: number[]) => ClassicAlgorithm]>([
  ['ppo', cartPole, (hidden) => ppo({ ...ppoPresets.cleanrl, hidden })],
  [
    'recurrent ppo',
    cartPole,
    (hidden) =>
      ppo({
        ...ppoPresets.cleanrl,
        hidden,
        rolloutSteps: 8,
        minibatches: 2,
        encoder: { kind: 'gru', size: 4 },
      }),
  ],
  ['a2c', cartPole, (hidden) => a2c({ ...a2cPresets['sb3-zoo-cartpole'], hidden })],
  ['td3', pendulum, (hidden) => td3({ ...td3Presets.cleanrl, hidden, bufferSize: 100 })],
])('%s refuses the state of a learner of another size', async (_, definition, make) => {
  const [small, large] = [await learner(make([4]), definition), await learner(make([8]), definition)]
  for (const state of [small.state(), null, {}])
    expect(() => large.restore(state)).toThrow(expect.objectContaining({ code: 'checkpoint-mismatch' }))
  large.restore(large.state())
  await small.dispose()
  await large.dispose()
})
