import { expect, test } from 'vitest'
import { createFilesystemEnvironment } from 'agoge/llm'
import { chainTasks } from './chains.ts'
import { worthOf } from './page.ts'
import { type Difference, reportOf } from './report.ts'
import { settings } from './settings.ts'
import type { Piece } from './store.ts'
import { beyond, chooseRate, chooseWarmStart } from './tuning.ts'

const { filesystem } = settings
const cost = { computedTokens: 0, calls: 0, minutes: 0, cpuMinutes: 0 }

const warm = (shown: number, seed: number, validation: number): Piece => ({
  piece: 'warm-tuning',
  setting: 'filesystem',
  seed,
  shown,
  validation,
  kinds: {},
  cost,
})

test('the warm start is the first of enough success, after both tuning seeds', () => {
  expect(chooseWarmStart(filesystem, [])).toEqual({ shown: 24, seed: 301 })
  const low = [warm(24, 301, 0.3), warm(24, 302, 0.2)]
  expect(chooseWarmStart(filesystem, low)).toEqual({ shown: 32, seed: 301 })
  expect(chooseWarmStart(filesystem, [...low, warm(32, 301, 0.7), warm(32, 302, 0.5)])).toEqual({
    chosen: 32,
  })
  // 45% is closer to 60% than 85%.
  const jump = [warm(24, 301, 0.45), warm(24, 302, 0.45), warm(32, 301, 0.9), warm(32, 302, 0.8)]
  expect(chooseWarmStart(filesystem, jump)).toEqual({ chosen: 24 })
})

const tuned = (learningRate: number, success: number): Piece[] =>
  filesystem.tuningSeeds.map((seed) => ({
    piece: 'tuning',
    setting: 'filesystem',
    seed,
    arm: 'rl',
    learningRate,
    steps: 1,
    validations: [
      { computedTokens: 0, success: 0.5 },
      { computedTokens: 1, success },
    ],
    cost,
  }))

test('a rate is chosen only inside of those that were tried', () => {
  expect(chooseRate(filesystem, 'rl', [])).toEqual({ rate: 1e-4, seed: 301 })
  const grid = [...tuned(1e-4, 0.6), ...tuned(3e-4, 0.7), ...tuned(1e-3, 0.8)]
  expect(chooseRate(filesystem, 'rl', grid)).toEqual({ rate: 3e-3, seed: 301 })
  expect(chooseRate(filesystem, 'rl', [...grid, ...tuned(3e-3, 0.6)])).toMatchObject({ chosen: 1e-3 })
  const falling = [...tuned(1e-4, 0.9), ...tuned(3e-4, 0.7), ...tuned(1e-3, 0.6)]
  expect(chooseRate(filesystem, 'rl', falling)).toEqual({ rate: 3e-5, seed: 301 })
})

test('rates beyond a grid', () => {
  expect([beyond(1e-4, true), beyond(3e-4, true), beyond(1e-3, false), beyond(3e-3, false)]).toEqual([
    3e-5, 1e-4, 3e-3, 1e-2,
  ])
})

test('what a difference says of RL', () => {
  const known = (mean: number, half: number, adjusted: number | null): Difference => {
    const on = { mean, low: mean - half, high: mean + half, n: 100, standardError: half / 2, pValue: 0.01 }
    return {
      a: 'rl',
      b: 'same',
      mixture: 'common',
      seeds: [201],
      adjusted,
      on: { known: on, paraphrased: on, heldOutKinds: on },
    }
  }
  expect(worthOf(known(0.05, 0.02, 0.01))).toBe('worth it')
  expect(worthOf(known(0.05, 0.02, 0.2))).toBe('open')
  expect(worthOf(known(0.02, 0.005, 0.01))).toBe('not worth it')
  expect(worthOf(known(-0.04, 0.02, 0.01))).toBe('not worth it')
  expect(worthOf(known(0.02, 0.03, 1))).toBe('open')
})

test('a long request takes the calls that its kind says, for folders that do not exist yet', () => {
  for (const split of ['train', 'validation', 'test', 'unseen-paraphrase'] as const)
    for (let seed = 0; seed < 25; seed++) {
      const task = chainTasks.task({ split, seed })
      const wanted = Number.parseInt(task.kind)
      const made = task.goal.folders.slice(task.start.folders.length)
      const paths = [...task.start.folders, ...Object.keys(task.start.files), ...made]
      expect(made).toHaveLength(wanted)
      expect(new Set(paths).size).toBe(paths.length)
      for (const path of made) expect(task.prompt).toContain(path)
      const results: { text: string; isError: boolean }[] = []
      for (;;) {
        const move = task.plan(results)
        if ('answer' in move) break
        results.push({ text: 'a', isError: false })
        expect(results.length).toBeLessThanOrEqual(wanted)
      }
      expect(results).toHaveLength(wanted)
      expect(chainTasks.task({ split, seed, kind: task.kind }).prompt).toBe(task.prompt)
    }
})

test('an arm with its own mixture is compared with itself on the same tasks of the same seeds', () => {
  const both = (known: string) => ({ known, paraphrased: '10', heldOutKinds: '00' })
  const units = { known: ['a', 'b'], paraphrased: ['a', 'b'], heldOutKinds: ['c', 'd'] }
  const begun = (seed: number): Piece => ({
    piece: 'warm-start',
    setting: 'filesystem',
    seed,
    shown: 24,
    units,
    results: both('00'),
    validation: 0,
    kinds: {},
    cost,
  })
  const arm = (seed: number, mixture: 'common' | 'own', known: string): Piece => ({
    piece: 'arm',
    setting: 'filesystem',
    seed,
    arm: 'rl',
    mixture,
    learningRate: 1e-3,
    steps: 1,
    validations: [],
    results: both(known),
    cost,
  })
  const pieces = [
    ...[201, 202, 203].map(begun),
    arm(201, 'common', '00'),
    arm(201, 'own', '11'),
    arm(202, 'common', '1-'),
    arm(202, 'own', '01'),
    // No seed 203 with the common mixture.
    arm(203, 'own', '11'),
  ]
  const { mixtures, differences } = reportOf(filesystem, pieces)
  expect(differences).toEqual([])
  expect(mixtures).toMatchObject([{ arm: 'rl', seeds: [201, 202] }])
  const [{ on }] = mixtures
  // Seed 201 gains two tasks; of seed 202 one counts, which is lost.
  expect(on.known.mean).toBeCloseTo((1 + 1 - 1) / 3)
  expect(on.paraphrased.mean).toBe(0)
})

test('the plan of a long request does it, and leaving out the last call does not', async () => {
  const environment = await createFilesystemEnvironment({ servers: 1 })
  const judged = async (seed: number, isShort: boolean): Promise<unknown> => {
    const task = chainTasks.task({ split: 'validation', seed })
    const session = await environment.open(task, {})
    const results: { text: string; isError: boolean }[] = []
    const wanted = Number.parseInt(task.kind)
    while (results.length < (isShort ? wanted - 1 : wanted)) {
      const move = task.plan(results)
      if ('answer' in move) break
      const { text, isError } = await session.call(move.call.name, move.call.arguments, {})
      results.push({ text, isError })
    }
    const score = await session.judge({ answer: 'done', calls: results.length, invalidCalls: 0 })
    await session.close()
    return typeof score === 'number' || score === null ? score : score.value
  }
  for (let seed = 0; seed < 15; seed++) {
    expect(await judged(seed, false)).toBe(1)
    expect(await judged(seed, true)).toBe(0)
  }
  await environment.close()
})

test('the test tasks of a seed differ from those of another, and from its validation tasks', async () => {
  const ids = async (seed: number): Promise<Set<string>> => {
    const { environment, tests, training } = await settings.chains.open(seed, settings.chains.counts)
    await environment.close()
    const all = [...Object.values(tests).flat(), ...(training.heldOut?.('validation', Infinity) ?? [])]
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
    expect(tests.heldOutKinds.every(({ kind }) => !training.kinds.includes(kind))).toBe(true)
    expect(tests.known.every(({ kind }) => training.kinds.includes(kind))).toBe(true)
    return new Set(all.map(({ prompt }) => prompt))
  }
  const [first, second] = [await ids(201), await ids(202)]
  expect([...second].filter((prompt) => first.has(prompt))).toEqual([])
  expect(first.size).toBeGreaterThan(300)
})
