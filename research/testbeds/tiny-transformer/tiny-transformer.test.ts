import { expect, test } from 'vitest'
import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { copyWeights, createSymbols, remember, restoreWeights, withTextModel } from './text-model.ts'
import type { TextModel } from './text-model.ts'
import { passAtK, scoreExactly } from './exact-score.ts'
import { sampleTiny } from './sample.ts'
import { chainTask, demonstrations, looseJudge, noisyJudge } from './tasks.ts'
import type { TinyTask } from './tasks.ts'
import { trainTiny } from './train.ts'
import { expertText, fineTune } from './warm-start.ts'

const small = { seed: 1, operations: 'ab', depths: [1, 2] } as const

/** A model that has learnt a little, so that probabilities differ. */
function withTaught<T>(task: TinyTask, use: (model: TextModel) => Promise<T>): Promise<T> {
  const { alphabet, window } = task
  return withTextModel({ alphabet, window, seed: 1, width: 16, layers: 1 }, async (model) => {
    const random = createRandom(1)
    for (let step = 0; step < 40; step++)
      await fineTune(
        model,
        Array.from({ length: 16 }, () => expertText(random, task)),
        0.02,
      )
    return use(model)
  })
}

test('characters become ids and come back up to the end', () => {
  const symbols = createSymbols('ab=')
  expect(symbols.size).toBe(4)
  expect([...symbols.encode('b=a')]).toEqual([2, 3, 1])
  expect(symbols.decode([2, 3, 1, symbols.end, 1])).toBe('b=a')
  expect(() => symbols.encode('a?')).toThrow(expect.objectContaining({ code: 'bad-symbol', given: '?' }))
})

test('a model is taught and restored', async () => {
  const question = { prompt: 'a=', solution: 'ba' }
  await withTextModel({ alphabet: 'ab=', seed: 1, layers: 1 }, async (model) => {
    const { symbols, backend } = model
    const answer = async (): Promise<string> => {
      const asked = [{ prompt: symbols.encode(question.prompt), key: 'likeliest' }]
      const settings = { seed: 1, maxTokens: 4, temperature: 0, stop: [symbols.end] }
      return symbols.decode((await backend.sample(asked, settings))[0].tokens)
    }
    const before = copyWeights(model)
    const first = await answer()
    for (let step = 0; step < 12; step++) await fineTune(model, [question, question], 0.02)
    expect(await answer()).toBe(question.solution)
    restoreWeights(model, before)
    expect(await answer()).toBe(first)
    expect(first).not.toBe(question.solution)
  })
})

test('shared computations of arms run once per seed', async () => {
  let times = 0
  const shared = remember(async ({ seed }: { seed: number; budget: Record<string, number> }) => {
    times++
    return Promise.resolve(seed)
  })
  expect(await Promise.all([1, 2, 1].map((seed) => shared({ seed, budget: {} })))).toEqual([1, 2, 1])
  expect(times).toBe(2)
})

test('the splits are disjoint, and judges agree with the tables', () => {
  const task = chainTask({ seed: 3, testSize: 60 })
  const test = new Set(task.test.map(({ prompt }) => prompt))
  const validation = new Set(task.validation.map(({ prompt }) => prompt))
  expect([test.size, validation.size]).toEqual([60, 96])
  const random = createRandom(4)
  for (let i = 0; i < 500; i++) {
    const { prompt } = task.draw(random)
    expect(test.has(prompt) || validation.has(prompt)).toBe(false)
  }
  expect([...test].some((prompt) => validation.has(prompt))).toBe(false)

  const question = task.ask('abc', 4)
  const last = question.solution.slice(-1)
  const wrong = String((Number(last) + 1) % 10)
  const lastOnly = chainTask({ seed: 3, judged: 'last' }).ask('abc', 4)
  expect([question.judge(question.solution), question.judge(last)]).toEqual([1, 0])
  expect([lastOnly.judge(question.solution), lastOnly.judge(last), lastOnly.judge(wrong)]).toEqual([1, 1, 0])
  expect([looseJudge(question, last + wrong, ''), looseJudge(question, wrong, '')]).toEqual([1, 0])
  expect(task.feedback(question, question.solution.slice(0, -1) + wrong)).toBe('!2=')
})

test('a noisy judge errs as often as asked, demonstrations are wrong as often as asked', () => {
  const task = chainTask({ seed: 3 })
  const question = task.ask('abc', 4)
  const noisy = noisyJudge(0.2)
  const rewards = Array.from({ length: 1000 }, (_, i) => noisy(question, question.solution, `${i}`))
  expect(Math.abs(average(rewards) - 0.8)).toBeLessThan(0.05)
  const shown = demonstrations(task, { seed: 1, count: 200, wrong: 0.5, depths: [3] })
  expect(new Set(shown.map(({ question: { prompt } }) => prompt)).size).toBe(200)
  expect(shown.every(({ question: { depth } }) => depth === 3)).toBe(true)
  const right = average(shown.map(({ question, solution }) => question.judge(solution)))
  expect(Math.abs(right - 0.5)).toBeLessThan(0.15)
})

test.each([
  ['one right answer', {}],
  ['several right answers', { judged: 'last' }],
  ['a second attempt', { turns: 2 }],
] as const)('the exact score agrees with sampling: %s', async (_, options) => {
  const task = chainTask({ ...small, ...options })
  await withTaught(task, async (model) => {
    const questions = task.test.slice(0, 4)
    const exact = await scoreExactly(model, task, questions)
    expect(exact.leftOut).toBeLessThan(0.05)
    const samples = 400
    const groups = await sampleTiny(model, task, questions, { name: 'brute', seed: 5, groupSize: samples })
    for (const [i, group] of groups.entries()) {
      const sampled = average(group.map(({ reward }) => reward))
      const error = 4 * Math.sqrt((sampled * (1 - sampled) + 1 / samples) / samples)
      expect(sampled).toBeGreaterThan(exact.byQuestion[i] - error)
      expect(sampled).toBeLessThan(exact.byQuestion[i] + 4 * exact.leftOut + error)
    }
    expect(exact.passAt1).toBeGreaterThan(0.02)
    expect(passAtK(exact, 1)).toBeCloseTo(exact.passAt1, 6)
    expect(passAtK(exact, 8)).toBeGreaterThan(exact.passAt1)
  })
})

test('the tree of answers and the pass over solutions give the same score', async () => {
  const task = chainTask(small)
  await withTaught(task, async (model) => {
    const forced = await scoreExactly(model, task, task.test)
    const tree = await scoreExactly(model, { ...task, oneRightAnswer: false }, task.test, { smallest: 1e-4 })
    expect(tree.passAt1).toBeGreaterThan(forced.passAt1 - tree.leftOut - 1e-5)
    expect(tree.passAt1).toBeLessThan(forced.passAt1 + 1e-5)
  })
})

test('both turns of an answer are sampled and trained', async () => {
  const task = chainTask({ ...small, turns: 2 })
  await withTaught(task, async (model) => {
    const before = copyWeights(model)
    const second: number[] = []
    await trainTiny(model, task, {
      algorithm: 'dr-grpo',
      learningRate: 1e-3,
      seed: 1,
      steps: 1,
      onStep: ({ groups }) => second.push(...groups.flat().map(({ turns }) => turns.length)),
    })
    expect(new Set(second)).toEqual(new Set([1, 2]))
    expect(copyWeights(model)).not.toEqual(before)
  })
})
