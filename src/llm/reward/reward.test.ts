import { expect, test } from 'vitest'
import type { Episode } from '../episode/types.ts'
import { compose } from './compose.ts'
import { score, scorer } from './score.ts'
import { taskReward } from './task-reward.ts'

function episode(fields: Partial<Episode> = {}): Episode {
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
    samples: [],
    rewards: [],
    success: true,
    usage: { promptTokens: 0, sampledTokens: 0, calls: 3, invalidCalls: 1 },
    timing: { seconds: 0, toolSeconds: 0 },
    ...fields,
  }
}

const reward = taskReward({ success: 1, perCall: -0.02, perInvalidCall: -0.1, brokenOff: -0.2 })

test('the task reward names its parts, and they add up', () => {
  expect(score(reward, episode())).toEqual({
    value: 1 - 0.06 - 0.1,
    parts: { success: 1, calls: -0.06, invalidCalls: -0.1, brokenOff: 0 },
  })
  const failed = score(reward, episode({ success: false, status: 'failed', ending: 'turn-limit' }))
  expect(failed?.value).toBeCloseTo(-0.2)
})

test('what is masked or cannot be judged has no reward, never a zero', () => {
  expect(score(reward, episode({ success: null }))).toBeNull()
  expect(score(reward, episode({ status: 'masked', success: true }))).toBeNull()
  expect(scorer(reward)(episode({ success: null }))).toBeNull()
})

test('a composition is the weighted sum, unjudged where one part is', () => {
  const both = compose({ task: () => 1, brevity: { weight: 0.5, reward: () => ({ value: -2, parts: {} }) } })
  expect(score(both, episode())).toEqual({ value: 0, parts: { task: 1, brevity: -1 } })
  expect(score(compose({ task: () => 1, judge: () => null }), episode())).toBeNull()
  expect(() => compose({})).toThrow(/at least one/)
})

test('a reward that is not a number is refused', () => {
  expect(() => score(() => Number.NaN, episode())).toThrow(/finite/)
})
