import { expect, test } from 'vitest'
import {
  chainTask,
  copyPolicy,
  demonstrations,
  exactValues,
  fineTune,
  hackableRewardTask,
  mixedDifficultyTask,
  plainRule,
  rareTokenTask,
  reinforce,
  shiftTask,
  startAt,
  tuned,
  tuningSeeds,
  turnsTask,
  variableLengthTask,
} from './index.ts'
import type { LearningRule } from './index.ts'

const seeds = [1, 2, 3]
const tasks = {
  'variable length': (seed: number) => variableLengthTask({ seed }),
  'mixed difficulty': (seed: number) => mixedDifficultyTask({ seed }),
  'hackable reward': (seed: number) => hackableRewardTask({ seed }),
  turns: (seed: number) => turnsTask({ seed }),
  chains: (seed: number) => chainTask({ seed, trainDepths: [2] }),
}

test.each(Object.entries(tasks))(
  '%s starts at pass@1 = 30%% with every seed, and seeds differ',
  (_, task) => {
    for (const seed of seeds) {
      const { policy, train } = task(seed)
      expect(Math.abs(exactValues(policy, train).passAt1 - 0.3)).toBeLessThan(0.02)
    }
    expect(task(1).policy.weights).toEqual(task(1).policy.weights)
    expect(task(1).policy.weights).not.toEqual(task(2).policy.weights)
  },
)

test('a pass@1 that the direction cannot reach is refused', () => {
  const { policy, train } = tasks.turns(1)
  const nowhere = new Float64Array(policy.weights.length)
  expect(() => startAt(policy, nowhere, { passAt1: 0.9, questions: train })).toThrow(
    expect.objectContaining({ code: 'bad-config' }),
  )
})

test('rare token: the usual answer earns less and is far likelier', () => {
  const { policy, train } = rareTokenTask({ seed: 1 })
  const { passAt1, reward } = exactValues(policy, train)
  expect(passAt1).toBeCloseTo(0.03, 2)
  expect(reward).toBeGreaterThan(0.2)
})

test('variable length: more filler makes longer answers at the same pass@1', () => {
  const lengthOf = (filler: number): number => {
    const { policy } = variableLengthTask({ seed: 1, filler })
    return exactValues(policy).length
  }
  expect(lengthOf(1)).toBeGreaterThan(lengthOf(-1) + 0.3)
})

test('mixed difficulty: pass@1 goes from nearly 0 to nearly 1', () => {
  const { policy, train } = mixedDifficultyTask({ seed: 1 })
  const rates = exactValues(policy, train).passByQuestion
  expect(Math.min(...rates)).toBeLessThan(0.25)
  expect(Math.max(...rates)).toBeGreaterThan(0.6)
})

test('hackable reward: training raises what the judge sees and lowers the score; an honest judge raises both', () => {
  const after = (hackReward: number) => {
    const { policy, train } = hackableRewardTask({ seed: 1, hackReward, hack: 0.5 })
    const before = exactValues(policy).passAt1
    reinforce(policy, { rule: plainRule, questions: train, steps: 150, learningRate: 3, seed: 1 })
    return {
      gained: exactValues(policy).passAt1 - before,
      seen: exactValues(policy, train, 'training').reward,
    }
  }
  expect(after(1).seen).toBeGreaterThan(0.9)
  expect(after(1).gained).toBeLessThan(0)
  expect(after(0).gained).toBeGreaterThan(0.3)
})

test('noise in the reward is in the training reward, not in the score', () => {
  const { policy, train } = hackableRewardTask({ seed: 1, flips: 0.1, hackReward: 0 })
  const { reward } = exactValues(policy, train)
  expect(exactValues(policy, train, 'training').reward).toBeCloseTo(0.9 * reward + 0.1 * (1 - reward), 10)
  const { measures } = reinforce(policy, {
    rule: plainRule,
    questions: train,
    steps: 200,
    learningRate: 0,
    seed: 1,
  })
  expect(measures.score).toBeCloseTo(reward, 1)
  expect(measures.reward).toBeCloseTo(0.9 * reward + 0.1 * (1 - reward), 1)
})

test('turns: advantages among equal states point closer to the exact gradient than those of whole answers', () => {
  const cosineOf = (advantage: LearningRule['advantage']): number => {
    const { policy, train } = turnsTask({ seed: 1, turns: 5, decoys: 3 })
    const rule = { ...plainRule, advantage }
    const settings = { rule, questions: train, steps: 100, learningRate: 0, seed: 1, cosine: true }
    return reinforce(policy, settings).measures.cosine
  }
  expect(cosineOf({ name: 'step-group' })).toBeGreaterThan(cosineOf({ name: 'grpo' }) + 0.02)
})

test('shift: practice on short chains helps long ones as far as features are shared', () => {
  const gained = (shared: number, own: number): number => {
    const { policy, train, test: tested } = shiftTask({ seed: 1, shared: 1, own: 1 })
    const { policy: from } = shiftTask({ seed: 1, shared, own, byStep: shared === 1 ? 0 : 1 })
    const before = exactValues(from, tested).passAt1
    expect(policy.tree.questions.length).toBe(train.length + tested.length)
    reinforce(from, { rule: plainRule, questions: train, steps: 100, learningRate: 1, seed: 1 })
    return exactValues(from, tested).passAt1 - before
  }
  expect(gained(1, 0.5)).toBeGreaterThan(0.3)
  expect(gained(0.2, 1)).toBeLessThan(gained(1, 0.5) - 0.1)
})

test('demonstrations: right ones raise pass@1 of their questions, wrong ones do not', () => {
  const gained = (wrong: number): number => {
    const task = chainTask({ seed: 1, trainDepths: [2] })
    const policy = copyPolicy(task.policy)
    const shown = demonstrations(task, { count: 4, wrong, seed: 1 })
    const questions = shown.map(({ question }) => question)
    const before = exactValues(policy, questions).passAt1
    fineTune(policy, shown, { steps: 50, learningRate: 2 })
    return exactValues(policy, questions).passAt1 - before
  }
  expect(gained(0)).toBeGreaterThan(0.4)
  expect(gained(1)).toBeLessThan(0)
})

test('tuning finds the best of a grid, and says whether it is inside', () => {
  const arms = {
    middle: ({ seed, learningRate }: { seed: number; learningRate: number }) =>
      -((learningRate - 2) ** 2) + seed,
    edge: ({ learningRate }: { learningRate: number }) => learningRate,
  }
  const { middle, edge } = tuned(arms, [1, 2, 3], tuningSeeds(2))
  expect(middle).toEqual({ best: 2, scores: [100.5, 101.5, 100.5], inside: true })
  expect([edge.best, edge.inside]).toEqual([3, false])
})
