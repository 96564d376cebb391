import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { ppo, ppoPresets } from '../algorithm/on-policy/ppo.ts'
import { qrDqn, qrDqnPresets } from '../algorithm/action-values/qr-dqn.ts'
import type { ClassicAlgorithm } from '../algorithm/agent.ts'
import { box, defineEnvironment, discrete, multiBinary, multiDiscrete } from '../environment/index.ts'
import type { ArraySpace, EnvironmentDefinition } from '../environment/index.ts'
import { cartPole } from '../environments/control/cart-pole.ts'
import { cliffWalking } from '../environments/toy-text/cliff-walking.ts'
import { evaluateAgent } from './evaluate-agent.ts'
import { loadAgent } from './load-agent.ts'
import { writeChecked } from '../../runs/checksums.ts'
import { readRun } from './run-record.ts'
import { openRunFolder } from '../../runs/run-folder.ts'
import { trainClassic } from './train-classic.ts'
import { trainNamed } from './find-run.ts'

const root = mkdtempSync(join(tmpdir(), 'agoge-bad-input-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const definitionOf = (action: ArraySpace): EnvironmentDefinition =>
  defineEnvironment({
    name: 'choices',
    observation: box([1], -1, 1),
    action,
    context: {},
    stateSize: 1,
    maxSteps: 10,
    reset: () => {},
    step({ rewards }, i) {
      rewards[i] = 0
    },
    observe({ observations }, i) {
      observations[i] = 0
    },
  })

/** Writes the same actions for every environment, invalid ones from its third action on. */
const writes =
  (right: number[], wrong: number[]): ClassicAlgorithm =>
  ({ actions }) => {
    let acted = 0
    const fill = (rows: number, to: Float32Array, row: number[]): void => {
      for (let r = 0; r < rows; r++) to.set(row, r * row.length)
    }
    return Promise.resolve({
      act: () => fill(actions.length / right.length, actions, ++acted > 2 ? wrong : right),
      learn: () => undefined,
      predict: (_, rows, to) => fill(rows, to, wrong),
      state: () => null,
      restore: () => {},
      dispose: () => Promise.resolve(),
    })
  }

test.each<[string, ArraySpace, number[], number[], field: string, value: string]>([
  ['a choice too many', discrete(3), [2], [3], 'actions[0]', '3'],
  ['below the first choice', discrete(3, 1), [1], [0], 'actions[0]', '0'],
  ['half a choice', discrete(3), [1], [1.5], 'actions[0]', '1.5'],
  ['no number', discrete(3), [1], [NaN], 'actions[0]', 'NaN'],
  ['the second of two choices', multiDiscrete([5, 2]), [4, 1], [1, 4], 'actions[1]', '4'],
  ['a bit of two', multiBinary(2), [1, 0], [1, 2], 'actions[1]', '2'],
  ['an infinite push', box([2], -1, Infinity), [0, 5], [0, Infinity], 'actions[1]', 'Infinity'],
  ['half a step', box([2], -3, 3, 'int32'), [2, -3], [2, 0.5], 'actions[1]', '0.5'],
  ['a push beyond its bound', box([2], -1, 0.1), [-1, Math.fround(0.1)], [-1, 0.125], 'actions[1]', '0.125'],
])(
  'an action outside its space stops training and evaluation: %s',
  async (_, space, right, wrong, field, value) => {
    const definition = definitionOf(space)
    const algorithm = writes(right, wrong)
    const run = trainClassic({ definition, algorithm, numEnvs: 2, steps: 100, evaluate: { every: 0 } })
    await expect(run).rejects.toMatchObject({
      code: 'not-in-space',
      message: expect.stringContaining(`at step 6: ${field} of environment 0 is ${value}`),
      given: { environment: 'choices', step: 6, envIndex: 0, field, value },
    })
    const agent = {
      predict: (_: unknown, rows: number, to: Float32Array) => to.set(Array(rows).fill(wrong).flat()),
    }
    await expect(evaluateAgent(agent, definition, { episodes: 3 })).rejects.toThrow(
      expect.objectContaining({ code: 'not-in-space', given: expect.objectContaining({ step: 1, field }) }),
    )
  },
)

/**
 * Shows `shown`, and `last` at the end of an episode, after three steps. Uses the mask `allowed` from the second
 * step on.
 */
const showing = (
  observation: ArraySpace,
  shown: number[],
  last = shown,
  allowed?: number[],
): EnvironmentDefinition => ({
  ...definitionOf(discrete(2)),
  observation,
  maxSteps: 3,
  reset({ state }, i) {
    state[i] = 0
  },
  step({ state, rewards }, i) {
    rewards[i] = 0
    state[i]++
  },
  observe({ state, observations }, i) {
    observations.set(state[i] === 3 ? last : shown, i * shown.length)
  },
  ...(allowed === undefined
    ? {}
    : { mask: ({ state, actionMask }, i) => actionMask.set(state[i] === 2 ? allowed : [1, 1], i * 2) }),
})

test.each<[string, ArraySpace, number[], number[], step: number, field: string]>([
  ['a state too many', discrete(3), [3], [3], 0, 'observations[0]'],
  ['below the first state', discrete(3, 1), [0], [0], 0, 'observations[0]'],
  ['half a state', discrete(3, -1), [0.5], [0], 0, 'observations[0]'],
  ['of several', multiDiscrete([5, 2]), [4, 2], [4, 1], 0, 'observations[1]'],
  ['a bit of two', multiBinary(2), [1, 2], [1, 1], 0, 'observations[1]'],
  ['the last of an episode', discrete(3, -1), [-1], [2], 6, 'finalObservations[0]'],
])(
  'a discrete observation outside its space stops training: %s',
  async (_, space, shown, last, step, field) => {
    const definition = showing(space, shown, last)
    const run = trainClassic({
      definition,
      algorithm: writes([1], [1]),
      numEnvs: 2,
      steps: 100,
      evaluate: { every: 0 },
    })
    await expect(run).rejects.toMatchObject({
      code: 'not-in-space',
      given: { environment: 'choices', step, envIndex: 0, field },
    })
  },
)

test('all members of discrete spaces are accepted, also the smallest', async () => {
  for (const [space, row] of [
    [discrete(3, -1), [-1]],
    [multiDiscrete([5, 2]), [4, 1]],
    [multiBinary(2), [0, 1]],
  ] as const) {
    const definition = showing(space, [...row])
    const run = await trainClassic({ definition, algorithm: writes([1], [1]), numEnvs: 2, steps: 20 })
    expect(run.summary.episodes).toBe(6)
  }
})

test('a mask that allows no action, and a masked action, are reported', async () => {
  const run = (allowed: number[]) =>
    trainClassic({
      definition: showing(box([1], -1, 1), [0], [0], allowed),
      algorithm: writes([1], [1]),
      numEnvs: 2,
      steps: 100,
      evaluate: { every: 0 },
    })
  await expect(run([0, 0])).rejects.toMatchObject({
    code: 'no-action',
    given: { environment: 'choices', step: 4, envIndex: 0, field: 'actionMask' },
  })
  await expect(run([1, 0])).rejects.toMatchObject({
    code: 'masked-action',
    given: { environment: 'choices', step: 6, envIndex: 0, field: 'actions[0]', value: '1' },
  })
  await expect(run([0, 1])).resolves.toBeDefined()
})

test('a last observation that is not finite stops training, even after the reset', async () => {
  const definition = showing(box([1], -1, 1), [0], [NaN])
  const run = trainClassic({
    definition,
    algorithm: writes([1], [1]),
    numEnvs: 2,
    steps: 100,
    evaluate: { every: 0 },
  })
  await expect(run).rejects.toMatchObject({
    code: 'not-finite',
    given: { environment: 'choices', step: 6, envIndex: 0, field: 'finalObservations[0]', value: 'NaN' },
  })
})

test('an evaluation cuts off an endless episode, and reports it', async () => {
  const up = { predict: (_: unknown, rows: number, actions: Float32Array) => void actions.fill(0, 0, rows) }
  const { cutOff, lengths } = await evaluateAgent(up, cliffWalking, { episodes: 3 })
  expect(cutOff).toBe(3)
  expect([...lengths]).toEqual([10_000, 10_000, 10_000])
  expect((await evaluateAgent(up, cartPole, { episodes: 3 })).cutOff).toBe(0)
  const notes: string[] = []
  await trainClassic({
    definition: cliffWalking,
    algorithm: writes([0], [0]),
    numEnvs: 1,
    steps: 10,
    evaluate: { episodes: 2, every: 0 },
    onEvent: (event) => void (event.type === 'note' && notes.push(event.text)),
  })
  expect(notes.join()).toContain('2 of 2 episodes of cliff-walking')
  await expect(evaluateAgent(up, cartPole, { maxSteps: NaN })).rejects.toThrow(
    /cannot have at most NaN steps/,
  )
})

test.each([0, -5, NaN, Infinity])('a run of %s steps is refused', async (steps) => {
  const run = trainClassic({ definition: cartPole, algorithm: writes([0], [0]), steps })
  await expect(run).rejects.toMatchObject({ code: 'bad-argument', given: steps })
})

test('a missing environment, and evaluations of no episodes, are refused before training', async () => {
  const algorithm = writes([0], [0])
  await expect(trainClassic({ definition: 'cartpole' as never, algorithm, steps: 8 })).rejects.toMatchObject({
    code: 'bad-argument',
    given: 'cartpole',
    hint: "classicEnvironments['cartpole'] is the environment of a name",
  })
  for (const evaluate of [{ episodes: 0 }, { during: 0 }, { episodes: 2.5, every: 0 }]) {
    let acted = 0
    const run = trainClassic({
      definition: cartPole,
      algorithm: async (environment, options) => {
        acted++
        return algorithm(environment, options)
      },
      steps: 8,
      evaluate,
    })
    await expect(run).rejects.toMatchObject({
      code: 'bad-argument',
      message: expect.stringContaining('evaluation cannot have'),
    })
    expect(acted).toBe(0)
  }
})

const quick = { environment: 'cartpole', steps: 64, numEnvs: 2, seed: 1, evaluate: { episodes: 1, every: 0 } }

/** Copies the checkpoint of one run into the folder of another. */
function exchange(from: string, into: string): void {
  const name = 'checkpoints/step-64/learner.bin'
  writeChecked(openRunFolder({ path: into }), name, readFileSync(join(from, name)))
}

test('a checkpoint of other networks is refused, naming environment, step and field, and nothing of it is loaded', async () => {
  const [small, large, other] = ['small', 'large', 'other'].map((name) => join(root, name))
  const run = { ...quick, algorithm: 'ppo', resume: false, command: 'test' }
  await trainNamed({ ...run, config: { hidden: [8] }, out: small })
  await trainNamed({ ...run, config: { hidden: [16] }, out: large })
  await trainNamed({ ...run, algorithm: 'pqn', out: other })
  exchange(small, large)
  await expect(loadAgent(large)).rejects.toMatchObject({
    code: 'checkpoint-mismatch',
    message: expect.stringMatching(/taken after 64 steps, does not fit cartpole/),
    given: expect.stringMatching(/^agent\.parameters has \d+ entries, not \d+$/),
  })
  const again = trainNamed({ ...run, config: { hidden: [16] }, out: large, resume: true })
  await expect(again).rejects.toMatchObject({ code: 'checkpoint-mismatch' })
  exchange(other, small)
  await expect(loadAgent(small)).rejects.toMatchObject({
    code: 'checkpoint-mismatch',
    given: expect.stringContaining('agent.'),
  })
})

test('a filled replay buffer fits a new one', async () => {
  const { numEnvs: _, ...preset } = qrDqnPresets['sb3-zoo-cartpole']
  const algorithm = qrDqn({ ...preset, hidden: [8], bufferSize: 500, learningStarts: 32, batchSize: 8 })
  const run = { definition: cartPole, algorithm, numEnvs: 1, steps: 100, evaluate: { episodes: 1, every: 0 } }
  const out = join(root, 'replay')
  const first = await trainClassic({ ...run, out })
  const again = await trainClassic({ ...run, out, resume: true })
  expect(again.summary.return).toEqual(first.summary.return)
})

test('values that are not finite are reported with the first such number', async () => {
  const { numEnvs, ...preset } = ppoPresets['sb3-zoo-cartpole']
  const algorithm = ppo({ ...preset, learningRate: 1e38 })
  await expect(trainClassic({ definition: cartPole, algorithm, numEnvs, steps: 2000 })).rejects.toMatchObject(
    {
      code: 'not-finite',
      message: expect.stringMatching(/cartpole, step \d+/),
      given: {
        environment: 'cartpole',
        step: expect.any(Number),
        envIndex: 0,
        field: 'logprob',
        value: 'NaN',
      },
    },
  )
})

/** Rewards whose sums overflow in single precision. */
const enormous: typeof cartPole = {
  ...cartPole,
  step(batch, i, random) {
    cartPole.step(batch, i, random)
    batch.rewards[i] = 1e38
  },
}

test('a gradient that is not finite leaves the weights unchanged, and gives one warning', async () => {
  const { numEnvs, ...preset } = ppoPresets['sb3-zoo-cartpole']
  const weights: Float32Array[] = []
  const notes: string[] = []
  await trainClassic({
    definition: enormous,
    algorithm: async (environment, options) => {
      const agent = await ppo({ ...preset, hidden: [8] })(environment, options)
      const current = (): Float32Array => (agent.state() as { parameters: Float32Array }).parameters.slice()
      return {
        ...agent,
        async learn() {
          if (weights.length === 0) weights.push(current())
          const learned = await agent.learn()
          if (learned !== undefined) weights.push(current())
          return learned
        },
      }
    },
    numEnvs,
    steps: 2 * numEnvs * preset.rolloutSteps,
    evaluate: { episodes: 1, every: 0 },
    onEvent: (event) => {
      if (event.type === 'note') notes.push(event.text)
    },
  })
  expect(weights.length).toBe(3)
  for (const now of weights) expect(now).toEqual(weights[0])
  expect(notes.filter((text) => text.includes('is left out'))).toHaveLength(1)
})

test('ten successive updates without a finite loss stop the run, name the metrics and keep the weights', async () => {
  const { numEnvs, ...preset } = ppoPresets['sb3-zoo-cartpole']
  const out = join(root, 'diverged')
  const run = trainClassic({
    definition: enormous,
    algorithm: ppo({ ...preset, hidden: [8], epochs: 1 }),
    numEnvs,
    steps: 20 * numEnvs * preset.rolloutSteps,
    evaluate: { episodes: 1, every: 0 },
    out,
  })
  await expect(run).rejects.toMatchObject({
    code: 'non-finite-loss',
    message: expect.stringMatching(
      /^Training on cartpole stopped after 2560 steps: .*gradient of \S+.*not finite/,
    ),
    hint: expect.stringContaining(join(out, 'checkpoints')),
  })
  const { learner } = readRun(openRunFolder({ path: out }))
  expect((learner.agent as { parameters: Float32Array }).parameters.every(Number.isFinite)).toBe(true)
})
