import { expect, test } from 'vitest'
import { cartPole } from '../environments/control/cart-pole.ts'
import { pendulum } from '../environments/control/pendulum.ts'
import { createVectorEnvironment } from './vector.ts'

test('a state of another environment or of fewer slots is refused, and nothing of it is written', () => {
  const environment = createVectorEnvironment(cartPole, { numEnvs: 3, seed: 1 })
  environment.reset()
  const before = environment.state()
  for (const other of [
    createVectorEnvironment(pendulum, { numEnvs: 3 }),
    createVectorEnvironment(cartPole, { numEnvs: 2 }),
  ]) {
    other.reset()
    expect(() => environment.restore(other.state())).toThrow(
      expect.objectContaining({
        code: 'checkpoint-mismatch',
        message: expect.stringMatching(/does not fit cartpole: \w+ has another size/),
      }),
    )
  }
  const { state: _, ...missing } = before.arrays
  expect(() => environment.restore({ ...before, arrays: missing })).toThrow(/state has another size/)
  expect(environment.state()).toEqual(before)
})

test('contexts of a vector are checked: unknown names and what is no number', () => {
  const withContext = (context: Record<string, number>) => () =>
    createVectorEnvironment(cartPole, { numEnvs: 1, contextFor: () => context }).reset()
  expect(withContext({ gravity: 4 })).not.toThrow()
  expect(withContext({ gravty: 4 })).toThrow(/cartpole has no context feature gravty/)
  expect(withContext({ gravity: NaN })).toThrow(/the context feature gravity of cartpole is NaN/)
})
