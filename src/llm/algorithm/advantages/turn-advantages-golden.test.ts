import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { adaptEntropyCoefficient } from '../losses/regularisers.ts'
import type { GaeSteps } from '../../../returns/advantages.ts'
import { expertMembers, type GroupRewards, informativeGroups } from './group.ts'
import { adaptKlCoefficient, relativeLengthPenalty } from './reward-shaping.ts'
import {
  archerAdvantages,
  archerTargets,
  cutSegments,
  segmentAdvantages,
  spreadOverTokens,
  stepProgressLoss,
  stepProgressRewards,
} from './critics.ts'
import { batchGrpoAdvantages } from './grpo.ts'
import { distillationAdvantages } from '../losses/imitation.ts'
import { gae } from '../../../returns/advantages.ts'
import { reinforcePlusPlusBaselineAdvantages } from './reinforce-plus-plus.ts'
import { remaxAdvantages } from './baselines.ts'

// Made by golden/make_turn_advantages_golden.py.
const golden = JSON.parse(readFileSync(new URL('golden/turn-advantages.json', import.meta.url), 'utf8')) as {
  groups: GroupRewards[]
  lengths: number[][]
  greedy: number[]
  remax: number[][]
  reinforcePlusPlusBaseline: { groups: number[]; advantages: number[][] }[]
  gae: {
    steps: GaeSteps
    of: { gamma: number; lambda: number; advantages: number[]; returns: number[] }[]
  }
  segments: { values: number[]; outcome: number; advantages: number[] }[]
  cuts: { logprobs: number[]; probability: number; decisions: number; starts: number[] }[]
  spread: { advantages: number[]; starts: number[]; length: number; tokens: number[] }[]
  archer: Record<
    'rewards' | 'nextValues' | 'terminated' | 'q1' | 'q2' | 'values' | 'advantages',
    number[]
  > & {
    of: { gamma: number; targets: number[] }[]
  }
  progress: {
    contributions: number[]
    grounding: number[]
    of: { alpha: number; beta: number; rewards: number[] }[]
    ungrounded: number[]
  }
  distillation: {
    samplerLogprobs: number[]
    teacherLogprobs: number[]
    coefficient: number
    discount: number
    advantages: number[]
  }[]
  relativeLength: { weight: number; rewards: (number | null)[][] }[]
  adaptiveKl: Record<'coefficient' | 'target' | 'horizon' | 'steps', number> &
    Record<'measured' | 'schedule', number[]>
  adaptiveEntropy: Record<'coefficient' | 'target' | 'step' | 'least' | 'most', number> &
    Record<'measured' | 'schedule', number[]>
  experts: { threshold: number | null; best: number | null; members: number[][] }[]
  informative: { spread: number; groups: number[] }[]
}
const { groups, lengths } = golden

function near(actual: ArrayLike<number | null>, expected: readonly (number | null)[], label: string): void {
  expect(actual.length, label).toBe(expected.length)
  expected.forEach((value, i) => {
    if (value === null) return expect(actual[i], `${label} ${i}`).toBeNull()
    const error = Math.abs(Number(actual[i]) - value)
    expect(error, `${label} ${i}: ${actual[i]} for ${value}`).toBeLessThanOrEqual(
      1e-6 * (1 + Math.abs(value)),
    )
  })
}

test('ReMax agrees with torch, also for masked, single and absent members', () => {
  for (const [g, expected] of golden.remax.entries()) {
    near(remaxAdvantages(groups[g], golden.greedy[g]), expected, `group ${g}`)
    // Without a greedy answer there is no baseline.
    expect(remaxAdvantages(groups[g], null)).toEqual(groups[g].map(() => 0))
  }
})

test('REINFORCE++ with the baseline of the group agrees with torch over padded tokens', () => {
  for (const { groups: chosen, advantages } of golden.reinforcePlusPlusBaseline) {
    const found = reinforcePlusPlusBaselineAdvantages(
      chosen.map((g) => groups[g]),
      chosen.map((g) => lengths[g]),
    )
    found.forEach((values, i) => near(values, advantages[i], `groups ${chosen.join()} ${i}`))
  }
})

test('empty batches and batches of one token give zeros', () => {
  for (const batch of [[], [[]], [[null], [null, null], []]]) {
    const zeros = batch.map((members) => members.map(() => 0))
    expect(batchGrpoAdvantages(batch)).toEqual(zeros)
    expect(reinforcePlusPlusBaselineAdvantages(batch)).toEqual(zeros)
  }
  expect(reinforcePlusPlusBaselineAdvantages([[1]], [[1]])).toEqual([[0]])
  expect(batchGrpoAdvantages([[1], [null, 0]])).toEqual([[0], [0, 0]])
})

test('GAE is the sum of discounted residuals within each episode', () => {
  for (const { gamma, lambda, advantages, returns } of golden.gae.of) {
    const found = gae(golden.gae.steps, { gamma, lambda })
    near(found.advantages, advantages, `advantages ${gamma} ${lambda}`)
    near(found.returns, returns, `returns ${gamma} ${lambda}`)
  }
  const nothing = { rewards: [], values: [], nextValues: [], terminated: [], truncated: [] }
  const none = new Float32Array(0)
  expect(gae(nothing, { gamma: 0.9, lambda: 0.9 })).toEqual({ advantages: none, returns: none })
})

test('segments, their boundaries and their tokens agree with numpy', () => {
  for (const { values, outcome, advantages } of golden.segments)
    near(segmentAdvantages(values, outcome), advantages, `segments ${values.length}`)
  for (const { logprobs, starts, ...settings } of golden.cuts)
    expect(cutSegments(logprobs, settings), JSON.stringify(settings)).toEqual(starts)
  for (const { advantages, starts, length, tokens } of golden.spread)
    near(spreadOverTokens(advantages, starts, length), tokens, 'spread')
  expect(spreadOverTokens([], [], 0)).toEqual(new Float32Array(0))
})

test('ArCHer’s targets and advantages agree with torch', () => {
  for (const { gamma, targets } of golden.archer.of)
    near(archerTargets(golden.archer, { gamma }), targets, `targets ${gamma}`)
  near(archerAdvantages(golden.archer), golden.archer.advantages, 'advantages')
  const none = new Float32Array(0)
  expect(archerTargets({ rewards: [], nextValues: [], terminated: [] }, { gamma: 1 })).toEqual(none)
  expect(archerAdvantages({ q1: [], q2: [], values: [] })).toEqual(none)
})

test('rewards of progress agree with numpy; no steps give no rewards', () => {
  const { contributions, grounding, of, ungrounded } = golden.progress
  for (const { rewards, ...settings } of of)
    near(stepProgressRewards(contributions, grounding, settings), rewards, JSON.stringify(settings))
  near(stepProgressRewards(contributions), ungrounded, 'without grounding')
  expect(stepProgressRewards([])).toEqual(new Float32Array(0))
  expect(stepProgressLoss([], [])).toEqual({ value: 0, gradient: [] })
  expect(stepProgressLoss([[]], [2])).toEqual({ value: 4, gradient: [new Float32Array(0)] })
})

test('advantages of distillation agree with numpy', () => {
  for (const { advantages, coefficient, discount, ...sequence } of golden.distillation)
    near(
      distillationAdvantages(sequence, { coefficient, discount }),
      advantages,
      `${coefficient} ${discount}`,
    )
})

test('the penalty of relative length agrees with numpy', () => {
  for (const { weight, rewards } of golden.relativeLength)
    rewards.forEach((expected, g) =>
      near(relativeLengthPenalty(groups[g], lengths[g], { weight }), expected, `${weight} ${g}`),
    )
})

test('coefficients of divergence and entropy follow the schedule of their controllers', () => {
  const { coefficient, measured, schedule, ...horizon } = golden.adaptiveKl
  let kl = coefficient
  const followed = measured.map((value) => (kl = adaptKlCoefficient(kl, value, horizon)))
  near(followed, schedule, 'divergence')
  const { coefficient: bonus, measured: entropies, schedule: expected, ...bounds } = golden.adaptiveEntropy
  let entropy = bonus
  near(
    entropies.map((value) => (entropy = adaptEntropyCoefficient(entropy, value, bounds))),
    expected,
    'entropy',
  )
})

test('experts and informative groups agree with numpy', () => {
  for (const { threshold, best, members } of golden.experts)
    expect(expertMembers(groups, { threshold: threshold ?? -Infinity, best: best ?? Infinity })).toEqual(
      members,
    )
  for (const { spread, groups: kept } of golden.informative)
    expect(informativeGroups(groups, { spread })).toEqual(kept)
})
