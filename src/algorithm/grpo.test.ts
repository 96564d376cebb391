import { expect, test } from 'vitest'
import type { Episode } from '../episode/types.ts'
import { grpo, grpoAdvantages, supervised, trainedTokens } from './index.ts'

/** One user message and one answer of `length` tokens, the first of them the forced marker. */
function episode(id: string, length: number, fields: Partial<Episode> = {}): Episode {
  return {
    schema: 1,
    id,
    group: 'g',
    world: 'w',
    task: 't',
    family: 'f',
    seed: 0,
    context: {},
    status: 'ok',
    ending: 'answered',
    nodes: [
      { id: 0, parent: null, agent: 'main', role: 'user', text: '', tokens: Int32Array.of(3, 10, 1) },
      {
        id: 1,
        parent: 0,
        agent: 'main',
        role: 'assistant',
        text: '',
        tokens: new Int32Array(length).fill(20),
      },
    ],
    samples: [
      {
        path: [0],
        output: 1,
        logprobs: new Float32Array(length).fill(-0.5),
        mask: new Uint8Array(length).fill(1).fill(0, 0, 1),
        weightVersion: 0,
        sampling: { temperature: 1 },
        trainable: true,
      },
    ],
    rewards: [],
    success: true,
    usage: { promptTokens: 3, sampledTokens: length - 1, calls: 0, invalidCalls: 0 },
    timing: { seconds: 0, toolSeconds: 0 },
    ...fields,
  }
}

test('grpo gives each episode the advantage it has in its own group and weights of the token mean', () => {
  const update = grpo()([
    { episodes: [episode('a', 3), episode('b', 5)], rewards: [1, 0] },
    { episodes: [episode('c', 4), episode('d', 4)], rewards: [0.5, 0.5] },
  ])
  const [high, low] = grpoAdvantages([1, 0])
  // The group without signal is not computed, but its 6 tokens stay in the normaliser: 2 + 4 + 3 + 3.
  expect(update.sequences.length).toBe(2)
  expect(Array.from(update.sequences[0].weights.rl)).toEqual([
    0,
    0,
    0,
    0,
    ...Array(2).fill(Math.fround(1 / 12)),
  ])
  expect(Array.from(update.sequences[1].advantages)).toEqual([0, 0, 0, 0, ...Array(4).fill(Math.fround(low))])
  expect(update.sequences[0].advantages[4]).toBeCloseTo(high)
  expect(update.loss).toEqual({ name: 'ppo', clipLow: 0.2, clipHigh: 0.28 })
  expect(update.metrics['groupsWithoutSignal']).toBe(0.5)
})

test('a masked member enters neither the advantages, nor the normaliser, nor the rows', () => {
  const alone = grpo()([{ episodes: [episode('a', 3), episode('b', 5)], rewards: [1, 0] }])
  const masked = episode('m', 100, { status: 'masked', success: null })
  const beside = grpo()([{ episodes: [episode('a', 3), masked, episode('b', 5)], rewards: [1, null, 0] }])
  expect(beside.sequences).toEqual(alone.sequences)
})

test('supervised weights are the mean over demonstrated tokens', () => {
  const update = supervised([episode('a', 3), episode('b', 5)])
  const total = update.sequences.reduce((sum, row) => sum + row.weights.ce.reduce((s, w) => s + w, 0), 0)
  expect(total).toBeCloseTo(1)
  expect(update.sequences.every((row) => row.weights.rl.every((weight) => weight === 0))).toBe(true)
  expect(trainedTokens(episode('a', 3))).toBe(2)
})
