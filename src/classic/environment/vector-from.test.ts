import { expect, test } from 'vitest'
import { type AsyncVectorEnvironment, asyncVectorFrom } from './async-vector-from.ts'
import { fastStream, numpyEnvStream } from './environment-random.ts'
import { type AsyncEnvironment, createEnvironment, type Environment, type StepResult } from './environment.ts'
import { openVector } from './open-vector.ts'
import { box, dict, discrete, tuple } from './space.ts'
import { counter } from './testing/definitions.ts'
import { vectorFrom } from './vector-from.ts'
import { type Autoreset, createVectorEnvironment, type VectorEnvironment } from './vector.ts'

const modes: Autoreset[] = ['same-step', 'next-step', 'disabled']
const numEnvs = 4
const makeCounter = (): Environment => createEnvironment(counter, { seeding: 'numpy' })
const seedFor = (seed: number, envIndex: number): number => seed + envIndex

/** Everything that a vector shows, copied. */
const snapshot = (env: VectorEnvironment | AsyncVectorEnvironment) => ({
  observations: [...env.observations],
  // Only rows of environments that have just ended are defined.
  finals: [...env.finalObservations].filter(
    (_, k) => env.terminated[Math.floor(k / 2)] + env.truncated[Math.floor(k / 2)] > 0,
  ),
  finalMasks: [...env.finalActionMask].filter(
    (_, k) => env.terminated[Math.floor(k / 3)] + env.truncated[Math.floor(k / 3)] > 0,
  ),
  rewards: [...env.rewards],
  terminated: [...env.terminated],
  truncated: [...env.truncated],
  mask: [...env.actionMask],
  returns: [...env.returns],
  lengths: [...env.lengths],
})

/** Plays random actions in both and compares all results. With autoreset disabled it resets ended environments. */
async function expectAlike(
  one: VectorEnvironment,
  other: VectorEnvironment | AsyncVectorEnvironment,
  mode: Autoreset,
): Promise<void> {
  const random = fastStream('actions')
  one.reset({ seed: 11 })
  await other.reset({ seed: 11 })
  expect(snapshot(other)).toEqual(snapshot(one))
  for (let t = 0; t < 80; t++) {
    for (let i = 0; i < numEnvs; i++) one.actions[i] = other.actions[i] = random.integers(3)
    one.step()
    await other.step()
    expect(snapshot(other)).toEqual(snapshot(one))
    if (t % 17 === 5) {
      one.truncate(t % numEnvs)
      await other.truncate(t % numEnvs)
      expect(snapshot(other)).toEqual(snapshot(one))
    }
    if (mode !== 'disabled') continue
    const mask = one.terminated.map((end, i) => (end + one.truncated[i] > 0 ? 1 : 0))
    one.reset({ mask })
    await other.reset({ mask })
    expect(snapshot(other)).toEqual(snapshot(one))
  }
}

test.each(modes)('a vector of objects equals the vector of their definition: %s', async (autoreset) => {
  const definition = createVectorEnvironment(counter, { numEnvs, autoreset, stream: numpyEnvStream })
  await expectAlike(definition, vectorFrom(makeCounter, numEnvs, { autoreset, seedFor }), autoreset)
})

test.each(modes)(
  'an asynchronous vector of objects equals the vector of their definition: %s',
  async (autoreset) => {
    const definition = createVectorEnvironment(counter, { numEnvs, autoreset, stream: numpyEnvStream })
    const make = (): AsyncEnvironment => {
      const inner = makeCounter()
      return {
        ...inner,
        reset: async (options) => inner.reset(options),
        step: async (action) => {
          await new Promise((resolve) => setTimeout(resolve, 0))
          return inner.step(action)
        },
      }
    }
    await expectAlike(definition, await asyncVectorFrom(make, numEnvs, { autoreset, seedFor }), autoreset)
  },
)

test('state and restore resume a vector of objects exactly', () => {
  const play = (env: VectorEnvironment) => {
    const seen: unknown[] = []
    for (let t = 0; t < 30; t++) {
      env.actions.fill(t % 3)
      env.step()
      seen.push(snapshot(env))
    }
    return seen
  }
  const env = vectorFrom(makeCounter, numEnvs)
  env.reset({ seed: 2 })
  play(env)
  const state = structuredClone(env.state())
  const rest = play(env)
  const other = vectorFrom(makeCounter, numEnvs)
  other.restore(state)
  expect(play(other)).toEqual(rest)
})

/** Episodes of one step. The observation is the previous action. */
const bandit = (extra: Partial<Environment> = {}): Environment => {
  let last = 0
  return {
    name: 'bandit',
    observationSpace: dict({ last: discrete(2), place: tuple(box([1], -1, 1)) }),
    actionSpace: discrete(2),
    reset: () => ({ observation: { last, place: [[0.5]] }, info: { fresh: true } }),
    step: (action) => {
      last = action as number
      return {
        observation: { last, place: [[-0.5]] },
        reward: last,
        terminated: true,
        truncated: false,
        info: { said: last },
      }
    },
    ...extra,
  }
}

test('observations of dicts become flat rows; first and last observations have separate infos', () => {
  const env = vectorFrom(() => bandit(), 2)
  expect(env.definition.observation).toEqual(box([3], [0, 0, -1], [1, 1, 1]))
  env.reset()
  expect([...env.observations]).toEqual([1, 0, 0.5, 1, 0, 0.5])
  env.actions.set([1, 0])
  env.step()
  expect([...env.finalObservations]).toEqual([0, 1, -0.5, 1, 0, -0.5])
  expect([...env.observations]).toEqual([0, 1, 0.5, 1, 0, 0.5])
  expect([...env.rewards]).toEqual([1, 0])
  expect([env.finalInfos, env.infos]).toEqual([
    [{ said: 1 }, { said: 0 }],
    [{ fresh: true }, { fresh: true }],
  ])
})

test('contexts and seeds reach the objects', () => {
  const given: unknown[] = []
  const env = vectorFrom(
    () =>
      bandit({
        reset: (options) => {
          given.push(options)
          return { observation: { last: 0, place: [[0]] } }
        },
      }),
    2,
    { seed: 4, seedFor, contextFor: (envIndex, episode) => ({ envIndex, episode }) },
  )
  env.reset()
  env.step()
  expect(given).toEqual([
    { seed: 4, context: { envIndex: 0, episode: 0 } },
    { seed: 5, context: { envIndex: 1, episode: 0 } },
    { context: { envIndex: 0, episode: 1 } },
    { context: { envIndex: 1, episode: 1 } },
  ])
})

const wrong: [string, Partial<StepResult<unknown>> | undefined, string][] = [
  ['reward', { reward: NaN }, 'bandit, environment 0, step 1: reward is NaN'],
  ['terminated', { terminated: 1 as never }, 'bandit, environment 0, step 1: terminated is 1'],
  [
    'observation',
    { observation: { last: 2, place: [[0]] } },
    'bandit, environment 0, step 1: observation.last is 2, expected an integer',
  ],
  ['nothing', undefined, 'bandit, environment 0, step 1: what it gave has no observation'],
  ['a promise', Promise.resolve() as never, 'is a promise'],
]
test.each(wrong)(
  'a step with a wrong %s throws an error that names environment, step and field',
  (_, change, message) => {
    const step = (): never =>
      (change === undefined || change instanceof Promise
        ? change
        : {
            observation: { last: 0, place: [[0]] },
            reward: 0,
            terminated: false,
            truncated: false,
            ...change,
          }) as never
    const env = vectorFrom(() => bandit({ step }), 2)
    env.reset()
    expect(() => env.step()).toThrow(message)
  },
)

test('values that are not environments are refused', () => {
  expect(() => vectorFrom(() => ({}) as Environment, 1)).toThrow('an environment needs observationSpace')
  expect(() => vectorFrom(() => bandit({ actionSpace: dict({}) }), 1)).toThrow('do not fit in a row')
  const env = vectorFrom(() => bandit(), 1)
  expect(() => env.step()).toThrow('stepped before it was reset')
  env.reset()
  expect(() => env.state()).toThrow('cannot be saved')
})

/** Ends after three steps; in environment 1, what `trouble` does happens at the second step of its first object. */
function troubled(trouble: () => Promise<void> | void): {
  make: (envIndex: number) => AsyncEnvironment
  log: string[]
} {
  const log: string[] = []
  let made = 0
  const make = (envIndex: number): AsyncEnvironment => {
    const life = made++
    let count = 0
    return {
      name: 'troubled',
      observationSpace: discrete(9),
      actionSpace: discrete(2),
      reset: async (options) => {
        log.push(`reset ${envIndex} ${options?.seed === undefined ? 'on' : 'seeded'} ${options?.id}`)
        count = 0
        return { observation: 0 }
      },
      step: async (_, call) => {
        log.push(`step ${call?.id}`)
        count++
        if (envIndex === 1 && life === 1 && count === 2) await trouble()
        return { observation: count, reward: 1, terminated: count === 3, truncated: false }
      },
      close: () => {
        log.push(`close ${life}`)
      },
    }
  }
  return { make, log }
}
const hang = (): Promise<void> => new Promise(() => undefined)
const crash = (): void => {
  throw new Error('lost the connection')
}

test('asynchronous environments are stepped concurrently', async () => {
  let now = 0
  let most = 0
  const make = (): AsyncEnvironment => ({
    observationSpace: discrete(1),
    actionSpace: discrete(1),
    reset: async () => ({ observation: 0 }),
    step: async () => {
      most = Math.max(most, ++now)
      await new Promise((resolve) => setTimeout(resolve, 5))
      now--
      return { observation: 0, reward: 0, terminated: false, truncated: false }
    },
  })
  const env = await asyncVectorFrom(make, 5)
  await env.reset()
  await env.step()
  expect(most).toBe(5)
})

test('a step that passes its deadline or throws fails the step of the vector, with environment and step named', async () => {
  for (const [trouble, message] of [
    [hang, 'step 2 of environment 1 of troubled took too long'],
    [crash, 'lost the connection'],
  ] as const) {
    const env = await asyncVectorFrom(troubled(trouble).make, 3, { stepDeadline: 20 })
    await env.reset()
    await env.step()
    await expect(env.step()).rejects.toThrow(message)
    expect([...env.observations]).toEqual([2, 1, 2])
    await expect(env.step()).rejects.toThrow('environment 1 of troubled was stepped before it was reset')
  }
})

test.each(modes)(
  'with onFault truncate, a fault truncates and marks the episode and replaces the object: %s',
  async (autoreset) => {
    const { make, log } = troubled(hang)
    const env = await asyncVectorFrom(make, 2, { stepDeadline: 20, onFault: 'truncate', autoreset })
    await env.reset()
    await env.step()
    await env.step()
    expect([...env.truncated]).toEqual([0, 1])
    expect([...env.faulted]).toEqual([0, 1])
    expect(env.finalObservations[1]).toBe(1)
    expect(env.returns[1]).toBe(1)
    if (autoreset === 'disabled') await env.reset({ mask: Uint8Array.of(0, 1) })
    await env.step()
    expect([...env.faulted]).toEqual([0, 0])
    expect(env.observations[1]).toBe(autoreset === 'next-step' ? 0 : 1)
    expect(log.filter((line) => line.startsWith('close'))).toEqual(['close 1'])
    expect(log.filter((line) => line.startsWith('reset 1'))).toEqual([
      'reset 1 seeded 1/1',
      'reset 1 seeded 1/2',
    ])
    expect(new Set(log).size).toBe(log.length)
  },
)

test('a signal cancels running calls, and a second concurrent call is refused', async () => {
  const env = await asyncVectorFrom(troubled(hang).make, 2, { onFault: 'truncate' })
  await env.reset()
  await env.step()
  const controller = new AbortController()
  const step = env.step({ signal: controller.signal })
  await expect(env.step()).rejects.toThrow('still at the call before')
  setTimeout(() => controller.abort(), 5)
  await expect(step).rejects.toThrow('step 2 of environment 1 of troubled was cancelled')
})

test.each([
  ['int32', 0.7],
  ['int32', NaN],
  ['int32', 3e9],
  ['uint8', -1],
] as const)('an action that is not a %s number is refused, not rounded: %d', (dtype, value) => {
  const given: unknown[] = []
  const object: Environment = {
    name: 'levels',
    observationSpace: box([1], 0, 1),
    actionSpace: box([2], 0, 100, dtype),
    reset: () => ({ observation: Float32Array.of(0) }),
    step(action) {
      given.push(action)
      return { observation: Float32Array.of(0), reward: 0, terminated: false, truncated: false }
    },
  }
  const env = vectorFrom(() => object, 1)
  env.reset()
  env.actions.set([1, 2])
  env.step()
  env.actions.set([1, value])
  expect(() => env.step()).toThrow(
    expect.objectContaining({ code: 'not-in-space', message: expect.stringContaining('the action[1] is') }),
  )
  expect(given.map((action) => Array.from(action as ArrayLike<number>))).toEqual([[1, 2]])
})

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

test('environments that share an object are refused, in one vector or in concurrent ones', async () => {
  const one = four()
  const refused = expect.objectContaining({
    code: 'bad-argument',
    given: expect.stringContaining('environment 1'),
  })
  expect(() => vectorFrom(() => one, 2)).toThrow(refused)
  await expect(asyncVectorFrom(() => one, 2)).rejects.toThrow(refused)
  await expect(openVector(() => one, { numEnvs: 2 })).rejects.toThrow(refused)
  const training = await openVector(() => one, { numEnvs: 1 })
  await expect(openVector(() => one, { numEnvs: 1 })).rejects.toThrow(/at play already/)
  await training.close()
  // A released object may play again, also after an error.
  await (await openVector(() => one, { numEnvs: 1 })).close()
  const broken = () => ({ ...one, reset: () => ({}) as never })
  const it = broken()
  const opening = await openVector(() => it, { numEnvs: 1 })
  expect(() => opening.reset()).toThrow(/has no observation/)
  await opening.close()
})

test('an error of an object gets the environment and the step', async () => {
  const vector = await openVector(four, { numEnvs: 2 })
  await vector.reset()
  void vector.step()
  void vector.step()
  expect(() => vector.step()).toThrow(
    expect.objectContaining({
      code: 'environment-threw',
      message: 'four, environment 0, step 3: step threw TypeError: the arm is stuck',
      cause: expect.any(TypeError),
    }),
  )
})
