import { expect, test } from 'vitest'
import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import {
  exactValues,
  inContextTask,
  repeated,
  sampleInContext,
  tuned,
  tunedArms,
  tuningSeeds,
  turnsTask,
} from './index.ts'

const budget = { steps: 3 }
/** The score says which arm ran, with which learning rate, seed and budget. */
const trained = (
  name: string,
  learningRate: number,
  { seed, budget }: { seed: number; budget: Readonly<Record<string, number>> },
) => ({ score: learningRate * 1000 + seed + budget.steps / 10 + (name === 'grpo' ? 0.01 : 0.02) })

test('every arm runs at its own learning rate with the budget that it is given', () => {
  const { arms } = tunedArms({ grpo: 8, rloo: 16 }, trained, { grid: [4, 8, 16, 32], budget })
  expect(Object.keys(arms)).toEqual(['grpo', 'rloo', 'untrained'])
  expect(arms.grpo({ seed: 7, budget: { steps: 1 } }).score).toBeCloseTo(8007.11, 9)
  expect(arms.rloo({ seed: 7, budget: { steps: 1 } }).score).toBeCloseTo(16007.12, 9)
})

test('untrained is the first arm with a learning rate of 0', () => {
  const { arms } = tunedArms({ rloo: 16, grpo: 8 }, trained, { grid: [4, 8], budget })
  expect(arms.untrained({ seed: 7, budget }).score).toBeCloseTo(7.32, 9)
})

test('tuning runs the arms, and not untrained, at the learning rate of the grid with the whole budget', () => {
  const { tuning } = tunedArms({ grpo: 8, rloo: 16 }, trained, { grid: [4, 8, 16, 32], budget })
  expect(tuning.grid).toEqual([4, 8, 16, 32])
  expect(Object.keys(tuning.arms)).toEqual(['grpo', 'rloo'])
  expect(tuning.arms['rloo']({ seed: 101, learningRate: 4 })).toBeCloseTo(4101.32, 9)
})

test('the best of the grid is that of the mean over seeds, and is at the edge or inside', () => {
  const peak =
    (at: number) =>
    ({ seed, learningRate }: { seed: number; learningRate: number }) =>
      -Math.abs(learningRate - at) + (seed === 101 && learningRate === 1 ? 2 : 0)
  const { inside, edge } = tuned({ inside: peak(4), edge: peak(8) }, [1, 2, 4, 8], tuningSeeds(4))
  expect(inside).toMatchObject({ best: 4, inside: true, scores: [-2.5, -2, 0, -4] })
  expect(edge).toMatchObject({ best: 8, inside: false })
})

test('several trainings of a task give their mean score, start and measures', () => {
  const found = repeated(4, (repeat) => ({
    score: repeat,
    start: 2 * repeat,
    measures: { clip: repeat ** 2 },
  }))
  expect(found).toEqual({ score: 1.5, start: 3, measures: { clip: 3.5 } })
  expect(repeated(2, (repeat) => ({ score: repeat }))).toEqual({ score: 0.5, measures: {} })
})

test('what is shown in context helps as far as the policy follows it', () => {
  const gainOf = (follows: number): number =>
    average(
      [1, 2, 3].map((seed) => inContextTask({ seed, shows: (solution) => solution, follows, noise: 0 }).gain),
    )
  expect(gainOf(0)).toBeCloseTo(0, 9)
  expect(gainOf(1)).toBeGreaterThan(0.1)
  expect(gainOf(3)).toBeGreaterThan(gainOf(1) + 0.1)
  expect(gainOf(-1)).toBeLessThan(-0.05)
})

test('an answer from the context is one to the question without, with the ratio of both or with none', () => {
  // Nothing is shown at the last place, so the two differ at the first two tokens only.
  const task = inContextTask({ seed: 1, shows: (solution) => solution.slice(0, -1), follows: 2, noise: 0 })
  const [question] = task.train
  const answers = sampleInContext(task, question, createRandom(1, 'test'), 16)
  expect(answers).toHaveLength(16)
  for (const { answer, onPolicy, distance } of answers) {
    expect(answer.question).toBe(question)
    expect(answer.tokens).toEqual(onPolicy.tokens)
    expect(answer.reward).toBe(
      Number(String(answer.tokens) === String(task.questions[question].solutions[0])),
    )
    expect(distance).toBeGreaterThan(0.01)
    expect(answer.logprobs[2]).toBeCloseTo(onPolicy.logprobs[2], 9)
    const row = task.policy.logprobs(onPolicy.nodes[0])
    expect(onPolicy.logprobs[0]).toBe(row[onPolicy.nodes[0] * 5 + onPolicy.tokens[0]])
  }
  const right = answers.filter(({ answer }) => answer.reward === 1)
  expect(right.length).toBeGreaterThan(0)
  for (const { answer, onPolicy } of right) expect(answer.logprobs[0]).toBeGreaterThan(onPolicy.logprobs[0])
})

test('wrong outcomes of turns change what training sees, and not the score', () => {
  const { policy, train } = turnsTask({ seed: 1, flips: 0.2 })
  const { passAt1, reward } = exactValues(policy, train)
  expect(reward).toBeCloseTo(passAt1, 9)
  expect(exactValues(policy, train, 'training').reward).toBeCloseTo(0.8 * passAt1 + 0.2 * (1 - passAt1), 9)
})
