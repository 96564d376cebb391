import { expect, test } from 'vitest'
import { createRandom } from '../../engine/random/index.ts'
import { cartPole, cartPolePositions } from '../environments/control/cart-pole.ts'
import { contextRow, writeContext } from './context.ts'
import { batched } from './batched.ts'
import { createVectorEnvironment } from './vector.ts'
import type { VectorEnvironment } from './vector.ts'
import type { EnvironmentDefinition } from './definition.ts'

/** The same environment without its kernel. */
const { batched: _, ...alone } = cartPole
const random = createRandom('together', 1)
const contexts = Array.from({ length: 13 }, () =>
  Object.fromEntries(
    Object.entries(cartPole.context).map(([name, { low, high }]) => [
      name,
      low + (high - low) * random.next(),
    ]),
  ),
)

/** All bytes. */
const arraysOf = (environment: VectorEnvironment): string => {
  const { observations, finalObservations, rewards, terminated, truncated, returns, lengths } = environment
  const { state } = environment.envs
  return [observations, finalObservations, rewards, terminated, truncated, returns, lengths, state]
    .map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength).toString('hex'))
    .join('\n')
}

test.each([1, 4, 7, 13])(
  '%d environments in one batch give the same bits as single environments',
  (numEnvs) => {
    const make = (definition: EnvironmentDefinition): VectorEnvironment =>
      createVectorEnvironment(definition, {
        numEnvs,
        seed: 3,
        maxSteps: 30,
        contextFor: (envIndex) => contexts[envIndex],
      })
    const [found, wanted] = [make(cartPole), make(alone)]
    found.reset()
    wanted.reset()
    let [ends, far] = [0, 0]
    for (let step = 0; step < 500; step++) {
      for (let envIndex = 0; envIndex < numEnvs; envIndex++)
        found.actions[envIndex] = wanted.actions[envIndex] = Math.floor(random.next() * 2)
      // Beyond the reach of the polynomials, and no number.
      if (step % 50 === 49) {
        const envIndex = step % numEnvs
        const angle = step % 150 === 149 ? NaN : 4 * random.next() - 2
        if (!(Math.abs(angle) <= 0.29)) far++
        found.envs.state[envIndex * 4 + 2] = wanted.envs.state[envIndex * 4 + 2] = angle
      }
      if (step === 333) {
        found.truncate(0)
        wanted.truncate(0)
      }
      // A NaN never ends by itself.
      if (step % 200 === 50) {
        const mask = new Uint8Array(numEnvs).fill(1)
        found.reset({ mask })
        wanted.reset({ mask })
      }
      found.step()
      wanted.step()
      expect(arraysOf(found)).toEqual(arraysOf(wanted))
      ends += wanted.terminated[0] + wanted.truncated[0]
    }
    expect(ends).toBeGreaterThan(12)
    expect(far).toBeGreaterThan(2)
    // And goes on so after a saved state.
    const later = make(cartPole)
    later.restore(structuredClone(wanted.state()))
    later.step()
    wanted.step()
    expect(arraysOf(later)).toEqual(arraysOf(wanted))
  },
)

test('the polynomials differ from sine and cosine by at most two units in the last place', () => {
  // Through the environment: with a very light cart, the next state depends on both.
  const run = (definition: EnvironmentDefinition, angle: number): number => {
    const environment = createVectorEnvironment(definition, { numEnvs: 1 })
    environment.reset()
    writeContext(environment.envs.context, 0, contextRow(definition.context, { force: 0, gravity: 1 }))
    environment.envs.state.set([0, 0, angle, 0])
    environment.step()
    return environment.envs.state[3]
  }
  for (let angle = -0.2; angle < 0.2; angle += 0.0007) {
    const [sin, cos] = [Math.sin(angle), Math.cos(angle)]
    const wanted = (0.02 * sin) / (0.5 * (4 / 3 - (0.1 * cos * cos) / 1.1))
    expect(Math.abs(run(cartPole, angle) - wanted)).toBeLessThan(1e-17 + 4e-16 * Math.abs(wanted))
  }
})

test('a definition derived from another does not use its kernel', () => {
  expect(batched(cartPole, 8, 500)).toBeDefined()
  expect(batched(cartPole, 3, 500)).toBeUndefined()
  expect(batched(cartPolePositions, 8, 500)).toBeUndefined()
  expect(batched({ ...cartPole, step: (...given) => cartPole.step(...given) }, 8, 500)).toBeUndefined()
})
