import { expect, test } from 'vitest'
import { asyncVectorFrom } from './async-vector-from.ts'
import type { Environment } from './environment.ts'
import { openVector } from './open-vector.ts'
import { box, discrete } from './space.ts'
import { vectorFrom } from './vector-from.ts'

/** Ends after four steps; `reset` reads its options, as it may. */
const four = (): Environment => {
  let step = 0
  return {
    name: 'four',
    observationSpace: box([1], 0, 4),
    actionSpace: discrete(2),
    reset(given) {
      const { seed } = given as { seed?: number }
      step = seed === -1 ? 1 : 0
      return { observation: [step] as never }
    },
    step: () => {
      if (step === 2) throw new TypeError('the arm is stuck')
      return { observation: [++step] as never, reward: 1, terminated: step === 4, truncated: false }
    },
  }
}

test('slots that share an object are refused, at once or in vectors that play at the same time', async () => {
  const one = four()
  const refused = expect.objectContaining({ code: 'bad-argument', given: expect.stringContaining('slot 1') })
  expect(() => vectorFrom(() => one, 2)).toThrow(refused)
  await expect(asyncVectorFrom(() => one, 2)).rejects.toThrow(refused)
  await expect(openVector(() => one, { numEnvs: 2 })).rejects.toThrow(refused)
  const training = await openVector(() => one, { numEnvs: 1 })
  await expect(openVector(() => one, { numEnvs: 1 })).rejects.toThrow(/at play already/)
  await training.close()
  // Once it is free, it may play again; so may the one after an error.
  await (await openVector(() => one, { numEnvs: 1 })).close()
  const broken = () => ({ ...one, reset: () => ({}) as never })
  const it = broken()
  const opening = await openVector(() => it, { numEnvs: 1 })
  expect(() => opening.reset()).toThrow(/has no observation/)
  await opening.close()
})

test('what an object throws is told with slot and step', async () => {
  const vector = await openVector(four, { numEnvs: 2 })
  await vector.reset()
  void vector.step()
  void vector.step()
  expect(() => vector.step()).toThrow(
    expect.objectContaining({
      code: 'environment-threw',
      message: 'four, slot 0, step 3: step threw TypeError: the arm is stuck',
      cause: expect.any(TypeError),
    }),
  )
})
