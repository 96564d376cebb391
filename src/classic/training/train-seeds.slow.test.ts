import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { interquartileMean } from '../../statistics/statistics.ts'
import { findRun, trainNamed } from './find-run.ts'
import { learned } from './testing/short-run.ts'
import { trainClassic } from './train-classic.ts'
import { trainSeeds } from './train-seeds.ts'

const root = mkdtempSync(join(tmpdir(), 'agoge-seeds-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const run = { environment: 'cartpole', algorithm: 'ppo', steps: 800, evaluate: { episodes: 5, every: 0 } }

test('each seed gives the same result as alone, and the summary is their interquartile mean', async () => {
  const out = join(root, 'both')
  const seen = new Set<number>()
  const summary = await trainSeeds({
    ...run,
    seeds: [4, 5],
    out,
    onEvent: (seed) => seen.add(seed),
  })
  expect(summary.runs.map(({ seed }) => seed)).toEqual([4, 5])
  expect([...seen].sort((a, b) => a - b)).toEqual([4, 5])
  const alone = await trainNamed({ ...run, seed: 5, out: join(root, 'alone'), resume: false, command: 'x' })
  expect(summary.runs[1].return).toEqual(alone.return)
  const means = summary.runs.map(({ return: { mean } }) => mean)
  expect(means[0]).not.toBe(means[1])
  expect(summary.return.mean).toBeCloseTo(interquartileMean(means))
  expect(summary.return).toMatchObject({
    low: null,
    high: null,
    noInterval: 'no interval: n = 2, fewer than 5',
  })
  expect(JSON.parse(readFileSync(join(out, 'summary.json'), 'utf8'))).toEqual(summary)
  const report = readFileSync(join(out, 'report.html'), 'utf8')
  expect(report).toContain('(no interval: n = 2, fewer than 5) over 2 seeds')
  expect(report).not.toMatch(/NaN|undefined/)

  const again = await trainSeeds({ ...run, seeds: [4, 5], out, resume: true })
  expect(again.return).toEqual(summary.return)
  await expect(trainSeeds({ ...run, seeds: [4, 6], out, resume: true })).rejects.toMatchObject({
    code: 'resume-mismatch',
  })
})

test('one process trains several seeds to the same weights, bit for bit, as separate runs', async () => {
  const out = join(root, 'one-process')
  const seeds = [7, 8, 9]
  const done: number[] = []
  await trainSeeds({ ...run, seeds, out, processes: 1, onSeed: ({ seed }) => done.push(seed) })
  expect(done).toEqual(seeds)
  const states = seeds.map((seed) => learned(join(out, `seed-${seed}`)))
  expect(states[1]).not.toEqual(states[0])
  for (const [i, seed] of seeds.entries()) {
    const alone = join(root, `alone-${seed}`)
    await trainNamed({ ...run, seed, out: alone, resume: false, command: 'x' })
    expect(learned(alone)).toEqual(states[i])
  }
})

/** The numbers of a state, in order. */
function numbersIn(state: unknown): number[] {
  if (typeof state === 'number') return [state]
  if (ArrayBuffer.isView(state)) return Array.from(state as Float32Array)
  return typeof state === 'object' && state !== null ? Object.values(state).flatMap(numbersIn) : []
}

// One update: later, differences in the last digits grow.
test.each([
  { algorithm: 'ppo', numEnvs: 4, steps: 128, config: { rolloutSteps: 32, epochs: 2 } },
  { algorithm: 'a2c', numEnvs: 4, steps: 20, config: { rolloutSteps: 5 } },
  { algorithm: 'pqn', numEnvs: 4, steps: 20, config: { rolloutSteps: 5 } },
])('seeds of $algorithm, batched, learn what each learns alone', async ({ algorithm, ...short }) => {
  const of = async (name: string, seeds: readonly number[], batched: boolean) => {
    const out = join(root, `${algorithm}-${name}`)
    await trainSeeds({ ...run, algorithm, ...short, seeds, batched, out, processes: 1 })
    return seeds.map((seed) => numbersIn(learned(join(out, `seed-${seed}`))))
  }
  const alone = await of('alone', [1, 2, 3], false)
  const batched = await of('batched', [1, 2, 3], true)
  expect(batched[0]).not.toEqual(batched[1])
  for (const [i, numbers] of alone.entries()) {
    expect(batched[i]).toHaveLength(numbers.length)
    const largest = Math.max(...numbers.map((value, k) => Math.abs(value - batched[i][k])))
    // A tenth of a step of Adam, which divides small gradients by numbers as small.
    expect(largest).toBeLessThan(1e-4)
  }
  const others = await of('others', [9, 3, 8, 7], true)
  expect(others[1]).toEqual(batched[2])
  expect(await of('one', [3], true)).toEqual([batched[2]])
})

test('batched seeds report events and results of each, and can be resumed', async () => {
  const out = join(root, 'batched')
  const options = { ...run, seeds: [1, 2, 3], out, processes: 1, batched: true }
  const seen = new Set<number>()
  const stop = new AbortController()
  const stopped = trainSeeds({
    ...options,
    signal: stop.signal,
    onEvent(seed) {
      seen.add(seed)
      if (seen.size === 3) stop.abort(new Error('enough'))
    },
  })
  await expect(stopped).rejects.toThrow('enough')
  const done: number[] = []
  const resumed = await trainSeeds({ ...options, resume: true, onSeed: ({ seed }) => done.push(seed) })
  expect(done).toEqual([1, 2, 3])
  const whole = await trainSeeds({ ...run, seeds: [1, 2, 3], processes: 1, batched: true })
  expect(resumed.runs.map(({ return: { mean } }) => mean)).toEqual(
    whole.runs.map(({ return: { mean } }) => mean),
  )
  await expect(trainSeeds({ ...options, batched: false, resume: true })).rejects.toMatchObject({
    code: 'resume-mismatch',
  })
})

test('of batched seeds, the one that fails is named; an algorithm that cannot is refused', async () => {
  const failing = trainSeeds({
    ...run,
    config: { learningRate: 1e30 },
    steps: 100_000,
    seeds: [1, 2, 3],
    batched: true,
  })
  await expect(failing).rejects.toMatchObject({ message: expect.stringMatching(/^Seed \d: /) as unknown })
  await expect(trainSeeds({ ...run, algorithm: 'dqn', seeds: [1, 2], batched: true })).rejects.toMatchObject({
    code: 'bad-argument',
    expected: 'one of ppo, a2c, pqn',
  })
})

test('without a folder nothing is written, and the result is the same', async () => {
  const options = { ...run, preset: 'cleanrl', bonus: { kind: 'counts', weight: 0.1 }, seeds: [3] }
  const before = readdirSync(root)
  const { runs } = await trainSeeds(options)
  expect(readdirSync(root)).toEqual(before)
  const { preset, bonus } = options
  const found = findRun({ ...run, preset, bonus })
  const { summary, agent } = await trainClassic({ ...run, ...found, seed: 3 })
  await agent.dispose()
  expect(runs[0].return).toEqual(summary.return)
  const { summary: other } = await trainClassic({ ...run, ...findRun({ ...run, preset }), seed: 3 })
  expect(other.return).not.toEqual(summary.return)
})

test('a seed that fails is named, and stops the others', async () => {
  const failing = trainSeeds({ ...run, config: { learningRate: 1e30 }, steps: 100_000, seeds: [1, 2, 3] })
  await expect(failing).rejects.toMatchObject({
    code: expect.stringMatching(/not-finite|non-finite-loss/) as unknown,
    message: expect.stringMatching(/^Seed \d: /) as unknown,
  })
})

test('unknown names are reported before any process starts', async () => {
  await expect(trainSeeds({ ...run, seeds: [], out: root })).rejects.toMatchObject({ code: 'bad-argument' })
  await expect(trainSeeds({ ...run, seeds: [1, 1], out: root })).rejects.toMatchObject({
    code: 'bad-argument',
  })
  expect(() => findRun({ ...run, environment: 'cartpol' })).toThrow(/no environment named "cartpol"/)
  expect(() => findRun({ ...run, algorithm: 'pp' })).toThrow(/no algorithm named "pp"/)
  expect(() => findRun({ ...run, preset: 'zoo' })).toThrow(/no preset of ppo/)
  expect(() => findRun({ ...run, config: { learnigRate: 1 } })).toThrow(/no setting of ppo/)
  expect(findRun({ ...run, config: { gamma: 0.5 } }).settings).toMatchObject({
    preset: 'sb3-zoo-cartpole',
    config: { gamma: 0.5, numEnvs: 8 },
  })
})
