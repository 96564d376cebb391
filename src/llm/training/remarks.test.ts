import { expect, test } from 'vitest'
import { wilsonInterval } from '../../statistics/intervals.ts'
import { remarksOn } from './remarks.ts'
import type { ReinforcementRecord, StageName, StageSummary } from './types.ts'

const stage = (name: StageName, successes: number): StageSummary =>
  ({ name, success: wilsonInterval(successes, 100) }) as Partial<StageSummary> as StageSummary

/** The remarks on a run of 200 steps on 400 demonstrations, but for what is given. */
function remarks(
  [base, warm, rl]: [number, number, number],
  record: Partial<ReinforcementRecord> = {},
  demonstrations = 400,
): string[] {
  return remarksOn({
    stages: [stage('base', base), stage('warm-start', warm), stage('rl', rl)],
    demonstrations: { read: demonstrations },
    reinforcement: {
      steps: 200,
      groups: 3200,
      groupsWithSignal: 1000,
      judged: 25_600,
      failed: 9000,
      ...record,
    },
  })
}

test('a run that went well needs no remark, a short one that gained neither', () => {
  expect(remarks([0, 60, 90])).toEqual([])
  expect(remarks([0, 60, 60], { steps: 3 }, 10)).toEqual([])
})

test('three steps on ten demonstrations that end at 0% say what happened and what to do', () => {
  const said = remarks([0, 0, 0], { steps: 3, groups: 48, groupsWithSignal: 0, judged: 384, failed: 384 }, 10)
  expect(said).toEqual([
    expect.stringMatching(/^Success stayed at 0%.*more demonstrations/),
    expect.stringMatching(
      /^Reinforcement learning had nothing to learn from: in each of 48 groups.*No episode succeeded/,
    ),
    expect.stringMatching(/^The run was too short to show a gain: 10 demonstrations and 3 steps.*--steps/),
  ])
})

test('success that falls to 0% is another remark than success that stays there', () => {
  expect(remarks([0, 60, 0])).toEqual([
    expect.stringMatching(/^Success fell from 60% after the warm start to 0%.*--algorithm/),
  ])
})

test('groups of equal reward: too hard and too easy are told apart', () => {
  expect(remarks([0, 100, 100], { groupsWithSignal: 0, failed: 0 })).toEqual([
    expect.stringMatching(/Every episode succeeded/),
  ])
  expect(remarks([0, 50, 50], { groupsWithSignal: 0 })).toEqual([expect.stringMatching(/Larger groups/)])
  expect(remarks([0, 50, 50], { groupsWithSignal: 1 })).toEqual([])
})

test('without reinforcement learning in the record there is nothing to remark on', () => {
  expect(remarksOn({ stages: [stage('base', 0)], demonstrations: {}, reinforcement: undefined })).toEqual([])
})
