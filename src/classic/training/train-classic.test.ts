import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TrainingEvent } from '../../runs/run-folder.ts'
import { workUntil } from '../../runs/testing/faults.ts'
import type { ClassicAlgorithm } from '../algorithm/agent.ts'
import { box, defineEnvironment, discrete } from '../environment/index.ts'
import { checkpointFile, learned, metrics, shortRun } from './testing/short-run.ts'
import { trainClassic } from './train-classic.ts'
import type { ClassicSummary, ClassicTrainOptions } from './types.ts'

const script = new URL('./testing/child.ts', import.meta.url)

let root: string
let whole: string
let summary: ClassicSummary
const events: TrainingEvent[] = []

async function train(options: ClassicTrainOptions): Promise<ClassicSummary> {
  const { summary, agent } = await trainClassic(options)
  await agent.dispose()
  return summary
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'agoge-array-'))
  whole = join(root, 'whole')
  summary = await train({ ...shortRun(whole), onEvent: (event) => events.push(event) })
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

test('a run learns, and writes its run folder', () => {
  expect(JSON.parse(readFileSync(join(whole, 'summary.json'), 'utf8'))).toEqual(summary)
  expect(summary).toMatchObject({ environment: 'cartpole', steps: 6000, seed: 3, numEnvs: 4 })
  expect(summary.evaluations.map(({ step }) => step)).toEqual([1500, 3000, 4500, 6000])
  expect(summary.evaluations.map(({ return: found }) => found.n)).toEqual([3, 3, 3, 5])
  expect(summary.episodes).toBeGreaterThan(20)
  const found = metrics(whole).trimEnd().split('\n')
  expect(found.filter((line) => line.includes('"evaluation"')).length).toBe(4)
  expect(found.some((line) => /"return":[\d.]+,"length"/.test(line) && line.includes('policyLoss'))).toBe(
    true,
  )
  const report = readFileSync(join(whole, 'report.html'), 'utf8')
  expect(report).toContain('cartpole, ppo (test): mean return')
  expect(report).toMatch(/<svg[\s\S]*aria-label="Return:/)
  expect(report).not.toMatch(/NaN|undefined|<script/)
  expect(events.filter(({ type }) => type === 'step').at(-1)).toMatchObject({ step: 6000, total: 6000 })
})

test('a run killed at random moments and resumed gives the same weights, generators, environments and metrics, bit for bit', async () => {
  const folder = join(root, 'killed')
  let kills = 0
  // Each attempt runs a few events further. The last one runs to the end.
  for (const events of [8, 8, Infinity]) {
    const code = await workUntil(script, folder, events, 7 * kills)
    if (code === 0) break
    expect(code).toBeNull()
    kills++
  }
  expect(kills).toBe(2)
  expect(learned(folder)).toEqual(learned(whole))
  expect(metrics(folder)).toBe(metrics(whole))
})

test('a run stopped by a signal saves its progress, and ends the same after a resume', async () => {
  const folder = join(root, 'stopped')
  const controller = new AbortController()
  const stopped = train({
    ...shortRun(folder),
    signal: controller.signal,
    onEvent(event) {
      if (event.type === 'step' && event.step > 1000) controller.abort(new Error('enough'))
    },
  })
  await expect(stopped).rejects.toThrow('enough')
  const again = await train({ ...shortRun(folder), resume: true })
  expect(again.return).toEqual(summary.return)
  expect(learned(folder)).toEqual(learned(whole))
})

test.each([2, 4])('a run stopped during evaluation %d evaluates again, and ends the same', async (which) => {
  const folder = join(root, `evaluating-${which}`)
  const controller = new AbortController()
  const run = shortRun(folder)
  let evaluations = 0
  let trained = true
  const algorithm: ClassicAlgorithm = async (environment, options) => {
    const agent = await run.algorithm(environment, options)
    return {
      ...agent,
      act() {
        trained = true
        return agent.act()
      },
      predict(...given) {
        if (trained && ++evaluations === which) setImmediate(() => controller.abort(new Error('enough')))
        trained = false
        // Yields to the event loop.
        const end = performance.now() + (evaluations === which ? 60 : 0)
        while (performance.now() < end);
        agent.predict(...given)
      },
    }
  }
  await expect(train({ ...run, algorithm, signal: controller.signal })).rejects.toThrow('enough')
  expect(evaluations).toBe(which)
  expect(metrics(folder).split('"evaluation"')).toHaveLength(which)
  const again = await train({ ...shortRun(folder), resume: true })
  expect(again.evaluations).toEqual(summary.evaluations)
  expect(learned(folder)).toEqual(learned(whole))
  expect(metrics(folder)).toBe(metrics(whole))
})

test('a finished run that is resumed returns the same summary', async () => {
  const again = await train({ ...shortRun(whole), resume: true })
  expect(again.return).toEqual(summary.return)
  expect(again.evaluations).toEqual(summary.evaluations)
})

test('a folder of another run is refused', async () => {
  await expect(train(shortRun(whole))).rejects.toMatchObject({ code: 'run-exists' })
  await expect(train({ ...shortRun(join(root, 'empty')), resume: true })).rejects.toMatchObject({
    code: 'no-run',
  })
  await expect(train({ ...shortRun(whole), resume: true, seed: 4 })).rejects.toMatchObject({
    code: 'resume-mismatch',
    given: '"seed": 3, (before), "seed": 4, (now)',
  })
  const other = { ...shortRun(whole), resume: true, settings: { algorithm: 'dqn' } }
  await expect(train(other)).rejects.toMatchObject({ code: 'resume-mismatch' })
  const broken = join(root, 'broken')
  await train({ ...shortRun(broken), steps: 400 })
  writeFileSync(checkpointFile(broken), 'no checkpoint')
  await expect(train({ ...shortRun(broken), steps: 400, resume: true })).rejects.toMatchObject({
    code: 'bad-run-folder',
  })
})

/** An agent that does nothing. */
const idle: ClassicAlgorithm = () =>
  Promise.resolve({
    act: () => {},
    learn: () => undefined,
    predict: () => {},
    state: () => null,
    restore: () => {},
    dispose: () => Promise.resolve(),
  })

/** Gives a bad number in its 5th step if asked to. Has no limit and no end. */
const faulty = (fault: 'observation' | 'reward' | 'none') =>
  defineEnvironment({
    name: 'faulty',
    observation: box([2], -1, 1),
    action: discrete(2),
    context: {},
    stateSize: 1,
    reset({ state }, i) {
      state[i] = 0
    },
    step({ state, rewards }, i) {
      state[i]++
      rewards[i] = fault === 'reward' && state[i] === 5 ? NaN : 0
    },
    observe({ state, observations }, i) {
      observations[2 * i + 1] = fault === 'observation' && state[i] === 5 ? NaN : 0
    },
  })

test.each([
  ['observation', 'observations[1]'],
  ['reward', 'rewards'],
] as const)(
  'an environment that gives NaN as %s stops the run, naming environment, step and field',
  async (fault, field) => {
    const run = train({ definition: faulty(fault), algorithm: idle, numEnvs: 2, steps: 100 })
    await expect(run).rejects.toMatchObject({
      code: 'not-finite',
      given: { environment: 'faulty', step: 10, envIndex: 0, field },
    })
  },
)

test('an endless episode gives one warning', async () => {
  const notes: string[] = []
  await train({
    definition: faulty('none'),
    algorithm: idle,
    numEnvs: 1,
    steps: 250_000,
    evaluate: { episodes: 1, every: 0 },
    onEvent: (event) => {
      if (event.type === 'note') notes.push(event.text)
    },
  })
  expect(notes.filter((text) => text.includes('may never end'))).toHaveLength(1)
})
