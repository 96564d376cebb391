import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { GroupRewards } from './group.ts'
import { stepGroupAdvantages, type StepRecord, turnLevelAdvantages, type TurnRewards } from './turns.ts'
import { batchGrpoAdvantages, grpoAdvantages } from './grpo.ts'
import { kimiLengthRewards, klRewards, repetitionPenalty, softOverlongPenalty } from './reward-shaping.ts'
import { maxAtKAdvantages, passAtKAdvantages } from './best-of-k.ts'
import { maxrlAdvantages, opoAdvantages, rlooAdvantages } from './baselines.ts'
import { reinforcePlusPlusAdvantages } from './reinforce-plus-plus.ts'
import { stepProgressLoss } from './critics.ts'

interface OfK {
  rewards: number[]
  of: { k: number; advantages: number[] }[]
}

// Made by golden/make_advantages_golden.py.
const golden = JSON.parse(readFileSync(new URL('golden/advantages.json', import.meta.url), 'utf8')) as {
  groups: GroupRewards[]
  lengths: number[][]
  grpo: number[][]
  batchGrpo: number[][]
  rloo: number[][]
  maxrl: number[][]
  opo: number[][]
  tokenRewards: number[][]
  reinforcePlusPlus: { gamma: number; advantages: number[][] }[]
  maxAtK: OfK & { verl: number[] }
  passAtK: OfK
  turns: { members: (TurnRewards | null)[]; of: { weight: number; advantages: number[][] }[] }
  steps: { members: (StepRecord | null)[]; of: { gamma: number; weight: number; advantages: number[][] }[] }
  kl: { logprobs: number[]; referenceLogprobs: number[]; of: Record<'k1' | 'k2' | 'k3', number[]> }
  progress: { contributions: number[][]; outcomes: number[]; value: number; gradient: number[][] }
  kimiLength: number[]
  overlong: number[]
  texts: number[][]
  repetition: number[]
}

function near(actual: ArrayLike<number>, expected: readonly number[], label: string): void {
  expect(actual.length, label).toBe(expected.length)
  expected.forEach((value, i) =>
    expect(Math.abs(actual[i] - value), `${label} ${i}: ${actual[i]} for ${value}`).toBeLessThanOrEqual(
      1e-6 * (1 + Math.abs(value)),
    ),
  )
}

function nearAll(actual: readonly ArrayLike<number>[], expected: readonly number[][], label: string): void {
  expect(actual.length, label).toBe(expected.length)
  expected.forEach((values, g) => near(actual[g], values, `${label} ${g}`))
}

test('estimators of a group agree with torch, masked, equal, single and absent members included', () => {
  const { groups, lengths } = golden
  nearAll(
    groups.map((rewards) => grpoAdvantages(rewards)),
    golden.grpo,
    'grpo',
  )
  nearAll(batchGrpoAdvantages(groups), golden.batchGrpo, 'batch grpo')
  nearAll(groups.map(rlooAdvantages), golden.rloo, 'rloo')
  nearAll(
    groups.map((rewards) => maxrlAdvantages(rewards)),
    golden.maxrl,
    'maxrl',
  )
  nearAll(
    groups.map((rewards, g) => opoAdvantages(rewards, lengths[g])),
    golden.opo,
    'opo',
  )
})

test('reinforce++ agrees with torch token by token', () => {
  for (const { gamma, advantages } of golden.reinforcePlusPlus)
    nearAll(reinforcePlusPlusAdvantages(golden.tokenRewards, { gamma }), advantages, `gamma ${gamma}`)
})

test('the best of k agrees with enumerating all choices, and with verl if k is the group size', () => {
  const { rewards, of, verl } = golden.maxAtK
  for (const { k, advantages } of of) near(maxAtKAdvantages(rewards, { k }), advantages, `k ${k}`)
  near(maxAtKAdvantages(rewards, { k: rewards.length }), verl, 'verl')
})

test('pass@k agrees with enumerating all choices', () => {
  for (const { k, advantages } of golden.passAtK.of)
    near(passAtKAdvantages(golden.passAtK.rewards, { k }), advantages, `k ${k}`)
})

test('advantages of turns and among equal states agree with torch', () => {
  for (const { weight, advantages } of golden.turns.of)
    nearAll(turnLevelAdvantages(golden.turns.members, { weight }), advantages, `weight ${weight}`)
  for (const { advantages, ...settings } of golden.steps.of)
    nearAll(stepGroupAdvantages(golden.steps.members, settings), advantages, JSON.stringify(settings))
})

test('the divergence in the reward agrees with torch', () => {
  const { logprobs, referenceLogprobs, of } = golden.kl
  for (const estimator of ['k1', 'k2', 'k3'] as const)
    near(
      klRewards({ logprobs, referenceLogprobs, outcome: 1 }, { coefficient: 0.05, estimator }),
      of[estimator],
      estimator,
    )
})

test('the loss of the estimator of progress agrees with torch', () => {
  const { contributions, outcomes, value, gradient } = golden.progress
  const loss = stepProgressLoss(contributions, outcomes)
  near([loss.value], [value], 'value')
  nearAll(loss.gradient, gradient, 'gradient')
})

test('penalties of length and repetition agree with TRL', () => {
  near(kimiLengthRewards([10, 30, 20, 30], [true, true, false, false]), golden.kimiLength, 'kimi')
  near(
    [0, 80, 81, 90, 100, 101].map((length) => softOverlongPenalty(length, { limit: 100, cache: 20 })),
    golden.overlong,
    'overlong',
  )
  near(
    golden.texts.map((tokens) => repetitionPenalty(tokens, { n: 2 })),
    golden.repetition,
    'repetition',
  )
})
