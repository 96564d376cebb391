import { expect, test } from 'vitest'
import { createRandom } from 'agoge/engine'
import { answerLogprobs, attempt } from './attempts.ts'
import {
  copyWeights,
  createSymbols,
  createTextModel,
  remember,
  restoreWeights,
} from '../testbeds/tiny-transformer/text-model.ts'
import { createChains } from './chains.ts'
import { examine, reinforceAnswers, exampleSequences } from './learn-answers.ts'
import { fineTuneOnSolutions, warmStartedOnChains } from './warm-started.ts'

test('characters become ids and come back up to the end', () => {
  const symbols = createSymbols('ab=')
  expect(symbols.size).toBe(4)
  expect([...symbols.encode('b=a')]).toEqual([2, 3, 1])
  expect(symbols.decode([2, 3, 1, symbols.end, 1])).toBe('b=a')
  expect(() => symbols.encode('a?')).toThrow(expect.objectContaining({ code: 'bad-symbol', given: '?' }))
})

test('chains write every intermediate digit and judge the last; the splits are disjoint', () => {
  const chains = createChains(1)
  const { solution, steps, judge } = chains.ask('abc', 4)
  expect(steps[0]).toBe(chains.apply('a', 4))
  expect(steps[2]).toBe(chains.apply('c', chains.apply('b', chains.apply('a', 4))))
  expect(solution).toBe(steps.join(''))
  expect([judge?.(`${steps[2]}`), judge?.(solution), judge?.(`${(steps[2] + 1) % 10}`)]).toEqual([1, 1, 0])
  expect(chains.ask('ab', 7).prompt).toBe('ab.7=')
  const tests = chains.test(40, [2, 3]).map(({ prompt }) => prompt)
  expect(new Set(tests).size).toBe(40)
  const random = createRandom(5)
  for (let i = 0; i < 200; i++) expect(tests).not.toContain(chains.draw(random, 2 + random.int(2)).prompt)
})

test('weights of RL tokens and of cloned tokens have separate normalisers', () => {
  const example = { prompt: Int32Array.of(1), tokens: Int32Array.of(2, 3) }
  const rows = exampleSequences([
    { ...example, logprobs: [-1, -2], advantage: 2 },
    { ...example, logprobs: [-1, -2], advantage: 0 },
    { ...example, advantage: [0, -1] },
    { ...example, imitation: 0.5 },
  ])
  expect(rows).toHaveLength(3)
  expect([...rows[0].advantages]).toEqual([0, 2, 2])
  expect([...rows[0].logprobs]).toEqual([0, -1, -2])
  expect(rows[0].weights.rl[1]).toBeCloseTo(1 / 6)
  expect([...rows[1].advantages]).toEqual([0, 0, -1])
  expect([...rows[2].weights.ce]).toEqual([0, 0.25, 0.25])
})

test('a model is cloned, restored, and trained by RL', async () => {
  const model = createTextModel({ alphabet: 'ab=', seed: 1, layers: 1 })
  const question = { prompt: 'a=', solution: 'ba' }
  const before = copyWeights(model)
  const likeliest = { maxTokens: 4, temperature: 0 }
  await fineTuneOnSolutions(model, () => question, { steps: 12, learningRate: 0.02, seed: 1, batch: 4 })
  expect((await examine(model, [question], likeliest)).accuracy).toBe(1)
  restoreWeights(model, before)
  expect((await examine(model, [question], likeliest)).accuracy).toBe(0)

  const rewards: number[] = []
  const judged = { ...question, judge: (answer: string) => Number(answer.startsWith('b')) }
  await reinforceAnswers(model, () => judged, {
    steps: 15,
    seed: 1,
    maxTokens: 4,
    learningRate: 0.01,
    onStep: ({ reward }) => rewards.push(reward),
  })
  expect(rewards.at(-1)).toBeGreaterThan(rewards[0] + 0.3)
  // Sampler and trainer agree on what was said.
  const [[said]] = await attempt(model, [judged], { name: 'said', seed: 1, maxTokens: 4 })
  const [again] = await answerLogprobs(model, [said])
  said.logprobs.forEach((logprob, t) => expect(again[t]).toBeCloseTo(logprob, 4))

  const sizes = await attempt(model, [judged, judged], {
    name: 'sizes',
    seed: 1,
    maxTokens: 1,
    groupSize: (i) => i + 1,
  })
  expect(sizes.map((group) => group.length)).toEqual([1, 2])
  // One token is no answer that has come to its end, unless it is the end.
  expect(
    sizes.flat().every(({ finish, reward, text }) => reward === 0 && (finish === 'stop') === (text === '')),
  ).toBe(true)
  await model.backend.dispose()
})

test('shared computations of arms run once per seed', async () => {
  let times = 0
  const shared = remember(async ({ seed }: { seed: number; budget: Record<string, number> }) => {
    times++
    return Promise.resolve(seed)
  })
  expect(await Promise.all([1, 2, 1].map((seed) => shared({ seed, budget: {} })))).toEqual([1, 2, 1])
  expect(times).toBe(2)
})

test('arms start from the same model and are scored by their improvement', async () => {
  let taught = 0
  const gain = warmStartedOnChains({
    taught: (chains) => {
      taught++
      return () => chains.ask('a', 1)
    },
    tested: async (model, chains) => {
      const { accuracy } = await examine(model, [chains.ask('a', 1)], { maxTokens: 3, samples: 8 })
      return accuracy
    },
  })
  const run = { seed: 1, budget: { warm: 1 } }
  expect(await gain(run, () => Promise.resolve())).toBe(0)
  const learn = { steps: 15, learningRate: 0.02, seed: 1, batch: 4 }
  expect(
    await gain(run, (model, chains) => fineTuneOnSolutions(model, () => chains.ask('a', 1), learn)),
  ).toBeGreaterThan(0.5)
  expect(taught).toBe(1)
})
