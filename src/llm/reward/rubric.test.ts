import { expect, test } from 'vitest'
import type { Episode } from '../episode/types.ts'
import { knownReward } from './known-reward.ts'
import { rubric } from './rubric.ts'
import { score } from './score.ts'
import { stepReward } from './step-reward.ts'

function episode(fields: Partial<Episode> = {}): Episode {
  const sample = {
    path: [],
    output: 0,
    logprobs: new Float32Array(0),
    mask: new Uint8Array(0),
    weightVersion: 0,
    sampling: { temperature: 1 },
    trainable: true,
  }
  return {
    schema: 1,
    id: 'e',
    group: 'g',
    environment: 'w',
    task: 't',
    kind: 'f',
    seed: 0,
    context: {},
    status: 'ok',
    ending: 'answered',
    nodes: [],
    samples: [sample, sample, sample],
    rewards: [],
    success: true,
    usage: { promptTokens: 0, sampledTokens: 0, calls: 3, invalidCalls: 1 },
    timing: { seconds: 0, toolSeconds: 0 },
    ...fields,
  }
}

test('a rubric gives the share of its points, less what should not be there', () => {
  const reward = rubric({
    right: { weight: 3, meets: (e) => e.success },
    brief: { weight: 1, meets: (e) => 1 / (1 + e.usage.calls) },
    clumsy: { weight: -2, meets: (e) => e.usage.invalidCalls > 0 },
  })
  expect(reward(episode())).toEqual({
    value: (3 + 0.25 - 2) / 4,
    parts: { right: 0.75, brief: 0.0625, clumsy: -0.5 },
  })
  expect(score(reward, episode({ success: false }))?.value).toBe(0)
  expect(reward(episode({ success: null }))).toBe(null)
  expect(() => rubric({})).toThrow(/points/)
  expect(() => rubric({ bad: { weight: -1, meets: () => true } })).toThrow(/points/)
  expect(() => rubric({ odd: { weight: 1, meets: () => 2 } })(episode())).toThrow(/met by 2/)
})

test('a process reward puts the scores of steps together', () => {
  const scores = [0.5, 1, 0.8]
  const of = (aggregate: 'product' | 'min' | 'mean' | 'last') =>
    score(
      stepReward((_, step) => scores[step], { aggregate }),
      episode(),
    )?.value
  expect(of('product')).toBeCloseTo(0.4)
  expect(of('min')).toBe(0.5)
  expect(of('mean')).toBeCloseTo(2.3 / 3)
  expect(of('last')).toBe(0.8)
  expect(
    score(
      stepReward((_, step) => scores[step]),
      episode(),
    )?.parts,
  ).toEqual({ 'step:0': 0.5, 'step:1': 1, 'step:2': 0.8 })
  expect(
    score(
      stepReward((_, step) => (step === 1 ? null : 1)),
      episode(),
    ),
  ).toBe(null)
  expect(
    score(
      stepReward(() => 1),
      episode({ samples: [] }),
    ),
  ).toBe(null)
})

test('what was judged elsewhere is looked up', () => {
  const reward = knownReward(new Map([['e', 0.3]]))
  expect(reward(episode())).toBe(0.3)
  expect(reward(episode({ id: 'other' }))).toBe(null)
})
