import { expect, test } from 'vitest'
import { average } from '../../../statistics/statistics.ts'
import type { Episode, EpisodeNode } from '../../episode/types.ts'
import { dpo, simpo } from './methods.ts'
import { episodeAnswer, episodePairs, judgedPairs, trainOnline } from './online.ts'
import { end, liking, promptOf, tinyBackend } from './testing/liked-tokens.ts'

const prompts = Array.from({ length: 8 }, (_, i) => promptOf(i))
const sampling = { maxTokens: 6, stop: [end], seed: 1, groupSize: 4 }
const score = (answers: readonly { prompt: Int32Array; tokens: Int32Array }[]) =>
  answers.map(({ prompt, tokens }) => liking(prompt, tokens))

test('online DPO raises the reward of the policy', async () => {
  const gains = []
  for (const seed of [1, 2, 3]) {
    const backend = tinyBackend(seed)
    const reference = tinyBackend(seed)
    const steps = await trainOnline({
      backend,
      reference,
      method: dpo({ beta: 0.3 }),
      steps: 25,
      learningRate: 0.02,
      collect: (step) =>
        judgedPairs(backend, prompts, { ...sampling, name: `online/${step}`, score, pairing: 'all' }),
    })
    gains.push(average(steps.slice(-5).map(({ reward }) => reward)) - steps[0].reward)
    expect(steps.every(({ pairs, loss }) => pairs === 0 || loss > 0)).toBe(true)
    await backend.dispose()
    await reference.dispose()
  }
  expect(Math.min(...gains)).toBeGreaterThan(0.2)
})

test('groups of equal answers change nothing, and a method without a reference needs none', async () => {
  const backend = tinyBackend(1)
  const before = backend.parameters.data.slice()
  const collect = (step: number) =>
    judgedPairs(backend, prompts, { ...sampling, name: `${step}`, score: (all) => all.map(() => 1) })
  const steps = await trainOnline({ backend, method: simpo(), steps: 2, learningRate: 0.1, collect })
  expect(steps).toMatchObject([
    { pairs: 0, reward: 1, loss: 0 },
    { pairs: 0, reward: 1, loss: 0 },
  ])
  expect(backend.parameters.data).toEqual(before)
  await expect(trainOnline({ backend, method: dpo(), steps: 1, learningRate: 0.1, collect })).rejects.toThrow(
    /needs a reference policy/,
  )
  await backend.dispose()
})

const node = (id: number, role: EpisodeNode['role'], ...tokens: number[]): EpisodeNode => ({
  id,
  parent: id === 0 ? null : id - 1,
  agent: 'agent',
  role,
  tokens: Int32Array.from(tokens),
  text: '',
})

/** A call, its result, an answer. Token 9 is the marker before outputs of the policy. */
function episode(id: string, result: number[], answer: number[], status: Episode['status'] = 'ok'): Episode {
  const sample = (output: number, length: number) => ({
    path: Array.from({ length: output }, (_, i) => i),
    output,
    logprobs: new Float32Array(length),
    mask: new Uint8Array(length).fill(1, 1),
    weightVersion: 0,
    sampling: { temperature: 1 },
    trainable: true,
  })
  return {
    schema: 1,
    id,
    group: 'g',
    environment: 'w',
    task: 't',
    kind: 'f',
    seed: 0,
    context: {},
    status,
    ending: 'answered',
    nodes: [
      node(0, 'user', 5, 6),
      node(1, 'assistant', 9, 4, 1),
      node(2, 'tool', ...result),
      node(3, 'assistant', 9, ...answer),
    ],
    samples: [sample(1, 3), sample(3, 1 + answer.length)],
    rewards: [],
    success: true,
    usage: { promptTokens: 0, sampledTokens: 0, calls: 1, invalidCalls: 0 },
    timing: { seconds: 0, toolSeconds: 0 },
  }
}

test('an episode is one answer, in which tools have no weight', () => {
  expect(episodeAnswer(episode('a', [7, 7], [3, 1]))).toEqual({
    prompt: Int32Array.of(5, 6, 9),
    tokens: Int32Array.of(4, 1, 7, 7, 9, 3, 1),
    weights: Float32Array.of(1, 1, 0, 0, 0, 1, 1),
  })
  expect(episodeAnswer(episode('a', [7], [3], 'masked'))).toBe(null)
})

test('pairs of episodes are the best against the worst that were judged', () => {
  const episodes = [
    episode('a', [7], [3, 1]),
    episode('b', [7, 8], [2, 1]),
    episode('c', [7], [2], 'masked'),
    episode('d', [7], [8]),
  ]
  const pairs = episodePairs(episodes, [0.5, 1, 0, null])
  expect(pairs).toHaveLength(1)
  expect(pairs[0].chosen).toEqual(Int32Array.of(4, 1, 7, 8, 9, 2, 1))
  expect(pairs[0].rejected).toEqual(Int32Array.of(4, 1, 7, 9, 3, 1))
  expect(pairs[0].weights?.rejected).toEqual(Float32Array.of(1, 1, 0, 0, 1, 1))
})
