import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { dqn, dqnPresets } from '../algorithm/action-values/dqn.ts'
import { openAiEs } from '../algorithm/evolution/evolution.ts'
import { ppo, ppoPresets } from '../algorithm/on-policy/ppo.ts'
import type { ClassicAlgorithm } from '../algorithm/agent.ts'
import { asyncVectorFrom, frameStack, openVector, timeLimit, vectorFrom } from '../environment/index.ts'
import type { EnvironmentFactory } from '../environment/index.ts'
import { evaluateAgent } from './evaluate-agent.ts'
import { learnUntil } from './learn-until.ts'
import { laterSigns, signs } from './testing/signs.ts'
import { trainClassic } from './train-classic.ts'

const root = mkdtempSync(join(tmpdir(), 'agoge-objects-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const learners: Record<string, [ClassicAlgorithm, numEnvs: number]> = {
  ppo: [ppo({ ...ppoPresets.cleanrl, rolloutSteps: 16, minibatches: 2, learningRate: 1e-2, hidden: [8] }), 4],
  dqn: [
    dqn({
      ...dqnPresets.cleanrl,
      bufferSize: 1000,
      learningStarts: 100,
      trainEvery: 4,
      targetEvery: 50,
      batchSize: 32,
      learningRate: 1e-2,
      gamma: 0.5,
      hidden: [16],
    }),
    2,
  ],
}
const kinds: Record<string, EnvironmentFactory> = { synchronous: signs, asynchronous: laterSigns }

test.each(Object.keys(learners).flatMap((name) => Object.keys(kinds).map((kind) => [name, kind])))(
  '%s trains on %s objects',
  async (name, kind) => {
    const [algorithm, numEnvs] = learners[name]
    const { summary, agent } = await trainClassic({
      definition: kinds[kind],
      algorithm,
      numEnvs,
      steps: 1600,
      evaluate: { episodes: 20, during: 4 },
    })
    expect(summary.evaluations.length).toBe(10)
    expect(summary.return.mean).toBe(4)
    expect((await evaluateAgent(agent, kinds[kind], { episodes: 3, seed: 5 })).returns).toEqual(
      Float64Array.of(4, 4, 4),
    )
    await agent.dispose()
  },
)

test('one object is a vector of one environment, and is evaluated after training', async () => {
  const [algorithm] = learners['ppo']
  const one = signs()
  const { summary, agent } = await trainClassic({ definition: one, algorithm, steps: 1600 })
  expect([summary.numEnvs, summary.evaluations.length, summary.return.mean]).toEqual([1, 1, 4])
  // The user's own object stays open.
  expect(one.closed).toBe(false)
  expect((await evaluateAgent(agent, one, { episodes: 2 })).returns).toEqual(Float64Array.of(4, 4))
  await agent.dispose()
  await expect(trainClassic({ definition: one, algorithm, numEnvs: 2, steps: 8 })).rejects.toMatchObject({
    code: 'bad-argument',
    given: '2 environments',
  })
  await expect(
    trainClassic({ definition: one, algorithm, steps: 8, evaluate: { every: 4 } }),
  ).rejects.toMatchObject({ code: 'bad-argument' })
})

test('objects that a factory made are closed, also after an error, and synchronous ones return no promises', async () => {
  const made: { closed: boolean }[] = []
  const make = () => {
    const one = signs()
    made.push(one)
    return one
  }
  const vector = await openVector(make, { numEnvs: 2 })
  expect(vector.reset()).toBeUndefined()
  expect(vector.step()).toBeUndefined()
  expect((await openVector(laterSigns, { numEnvs: 2 })).reset()).toBeInstanceOf(Promise)
  made.length = 0
  await expect(
    trainClassic({ definition: make, algorithm: openAiEs({ ...es, sigma: 0.1 }), numEnvs: 3, steps: 10 }),
  ).rejects.toMatchObject({ code: 'bad-argument' })
  expect(made.map(({ closed }) => closed)).toEqual([true, true, true])
})

const es = { learningRate: 0.3, weightDecay: 0, hidden: [], activation: 'tanh' } as const

test('an evolution strategy resets asynchronous environments, also with a window', async () => {
  const encoder = { kind: 'transformer', window: 2, size: 4 } as const
  const states: unknown[] = []
  const [here, there] = [vectorFrom(signs, 4, { seed: 1 }), await asyncVectorFrom(laterSigns, 4, { seed: 1 })]
  for (const environment of [here, there]) {
    await environment.reset()
    const agent = await openAiEs({ ...es, sigma: 0.5, encoder })(environment, { seed: 1, totalSteps: 1 })
    // Three generations, and the first step of the next.
    await learnUntil(environment, agent, { steps: 4 * (4 * 3 + 1) })
    states.push(agent.state())
  }
  expect(there.lengths).toEqual(Int32Array.of(1, 1, 1, 1))
  expect(states[1]).toEqual(states[0])
})

test('wrappers await promises, and give the same as with synchronous objects', async () => {
  const [here, there] = [
    frameStack(timeLimit(vectorFrom(signs, 3, { seed: 7 }), 3), 2),
    frameStack(timeLimit(await asyncVectorFrom(laterSigns, 3, { seed: 7 }), 3), 2),
  ]
  here.reset()
  await there.reset()
  for (let step = 0; step < 10; step++) {
    here.actions.fill(step % 2)
    there.actions.fill(step % 2)
    here.step()
    await there.step()
    for (const array of ['observations', 'finalObservations', 'rewards', 'truncated', 'lengths'] as const)
      expect(there[array]).toEqual(here[array])
  }
  expect(here.truncated).toEqual(Uint8Array.of(0, 0, 0))
  expect(here.lengths).toEqual(Int32Array.of(1, 1, 1))
})

test('a run on objects resumes if they can be saved, and is refused if not', async () => {
  const [algorithm] = learners['ppo']
  const run = { algorithm, numEnvs: 4, steps: 640, evaluate: { episodes: 2, every: 0 }, checkpointEvery: 64 }
  const whole = await trainClassic({ ...run, definition: signs })
  /** Stops in the middle of the run, as by a signal. */
  async function halves(definition: EnvironmentFactory, out: string) {
    const stop = new AbortController()
    const notes: string[] = []
    const first = trainClassic({
      ...run,
      definition,
      out,
      signal: stop.signal,
      onEvent(event) {
        if (event.type === 'note') notes.push(event.text)
        if (event.type === 'step') stop.abort(new Error('enough'))
      },
    })
    await expect(first).rejects.toThrow('enough')
    return { notes, second: trainClassic({ ...run, definition, out, resume: true }) }
  }
  const { second } = await halves(signs, join(root, 'saved'))
  const again = await second
  expect(again.agent.state()).toEqual(whole.agent.state())
  await again.agent.dispose()
  await whole.agent.dispose()
  const { notes, second: refused } = await halves(laterSigns, join(root, 'not-saved'))
  expect(notes.join()).toContain('later signs has no state() and restore()')
  await expect(refused).rejects.toMatchObject({ code: 'not-resumable' })
})

test('an error in an object names environment, step and field', async () => {
  const wrong = () => {
    const inner = signs()
    return {
      ...inner,
      step(action: never) {
        const result = inner.step(action)
        return { ...result, reward: result.terminated ? NaN : 1 }
      },
    }
  }
  const [algorithm] = learners['ppo']
  await expect(trainClassic({ definition: wrong, algorithm, numEnvs: 2, steps: 100 })).rejects.toMatchObject({
    code: 'bad-step',
    message: 'signs, environment 0, step 4: reward is NaN',
  })
})
