import { expect, test } from 'vitest'
import type { Episode, EpisodeNode } from '../../episode/types.ts'
import { episodeAnswer, episodePairs } from './from-episodes.ts'

const node = (id: number, role: EpisodeNode['role'], ...tokens: number[]): EpisodeNode => ({
  id,
  parent: id === 0 ? null : id - 1,
  agent: 'agent',
  role,
  tokens: Int32Array.from(tokens),
  text: '',
})

/** A call, its result, an answer; 9 is the marker before what the policy says. */
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
