import { expect, test } from 'vitest'
import { wilsonInterval } from '../../statistics/statistics.ts'
import type { Episode } from '../episode/types.ts'
import { remarksOn, wrongToRight } from './summary.ts'
import type { ReinforcementRecord, StageName, StageSummary } from './types.ts'

function episode(
  task: string,
  kind: string,
  success: boolean,
  calls = 1,
  fields: Partial<Episode> = {},
): Episode {
  return {
    schema: 1,
    id: task,
    group: task,
    environment: 'w',
    task,
    kind,
    seed: 0,
    context: {},
    status: 'ok',
    ending: 'answered',
    nodes: [
      { id: 0, parent: null, agent: 'agent', role: 'user', tokens: Int32Array.of(1), text: `do ${task}` },
      {
        id: 1,
        parent: 0,
        agent: 'agent',
        role: 'assistant',
        tokens: Int32Array.of(2),
        text: '',
        calls: [{ id: '0.0', name: 'get', arguments: { box: 'red' } }],
      },
    ],
    samples: [],
    rewards: [],
    success,
    usage: { promptTokens: 0, sampledTokens: 0, calls, invalidCalls: 0 },
    timing: { seconds: 0, toolSeconds: 0 },
    ...fields,
  }
}

test('shown are tasks that went from wrong to right, of different kinds, the longest first', () => {
  const before = ['a', 'b', 'c', 'd', 'e'].map((task) =>
    episode(task, task < 'd' ? 'read' : 'write', task === 'a'),
  )
  const after = [
    episode('a', 'read', true),
    episode('b', 'read', true, 1),
    episode('c', 'read', true, 3),
    episode('d', 'write', true, 2),
    episode('e', 'write', false),
  ]
  const samples = wrongToRight(before, after, 3)
  expect(samples.map(({ task }) => task)).toEqual(['c', 'd', 'b'])
  expect(samples[0].prompt).toBe('do c')
  expect(samples[0].after[1].calls).toEqual([{ name: 'get', arguments: { box: 'red' } }])
})

test('a masked episode was not wrong, it was ours', () => {
  const masked = episode('a', 'read', false, 0, { status: 'masked', success: null })
  expect(wrongToRight([masked], [episode('a', 'read', true)], 3)).toEqual([])
})

const stage = (name: StageName, successes: number): StageSummary =>
  ({ name, success: wilsonInterval(successes, 100) }) as Partial<StageSummary> as StageSummary

/** The warnings for a run of 200 steps on 400 demonstrations, with the given changes. */
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

test('a run of three steps on ten demonstrations that ends at 0% warns and says what to do', () => {
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

test('groups of equal reward: too hard and too easy are distinguished', () => {
  expect(remarks([0, 100, 100], { groupsWithSignal: 0, failed: 0 })).toEqual([
    expect.stringMatching(/Every episode succeeded/),
  ])
  expect(remarks([0, 50, 50], { groupsWithSignal: 0 })).toEqual([expect.stringMatching(/Larger groups/)])
  expect(remarks([0, 50, 50], { groupsWithSignal: 1 })).toEqual([])
})

test('a kind of task that fell clearly on held-out tasks is named with its counts', () => {
  const stages = (copy: number): StageSummary[] => [
    stage('base', 0),
    {
      ...stage('warm-start', 60),
      kindEstimates: { copy: wilsonInterval(24, 27), read: wilsonInterval(20, 27) },
    },
    { ...stage('rl', 80), kindEstimates: { copy: wilsonInterval(copy, 27), read: wilsonInterval(15, 27) } },
  ]
  const reinforcement = { steps: 200, groups: 3200, groupsWithSignal: 1000, judged: 25_600, failed: 9000 }
  const said = (copy: number) =>
    remarksOn({ stages: stages(copy), demonstrations: { copy: 400 }, reinforcement })
  expect(said(9)).toEqual([
    expect.stringMatching(/^copy fell .*24 of 27 held-out tasks before, 9 of 27 after.*kindWeights/),
  ])
  expect(said(20)).toEqual([])
})

test('a record without reinforcement learning gives no warning', () => {
  expect(remarksOn({ stages: [stage('base', 0)], demonstrations: {}, reinforcement: undefined })).toEqual([])
})

test("a program of the user's, which has no warm start, is not reproached with one", () => {
  const reinforcement = { steps: 5, groups: 10, groupsWithSignal: 0, judged: 80, failed: 80 }
  const texts = remarksOn({ stages: [stage('base', 0), stage('rl', 0)], demonstrations: {}, reinforcement })
  expect(texts.join(' ')).not.toMatch(/warm start|0 demonstrations/)
  expect(texts.join(' ')).toMatch(/Begin with demonstrations.*demonstrateAgent.*5 steps of reinforcement/)
})
