import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MetricsRecord, TrainingEvent } from '../../runs/run-folder.ts'
import { trainJob } from './loop.ts'
import { boxJob } from './testing/box-job.ts'
import { checkBudget, playedTokens } from './token-budget.ts'
import type { TrainingPlan, TrainJobOptions } from './types.ts'
import type { Episode } from '../episode/types.ts'

let root: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'agoge-budget-'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const recordsOf = (folder: string): MetricsRecord[] =>
  readFileSync(join(folder, 'metrics.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as MetricsRecord)

/** Fresh demonstrations, then RL, each with a budget. */
function budgetedJob(name: string, changes: Partial<TrainingPlan['warmStart']> = {}): TrainJobOptions {
  const usual = boxJob(join(root, name))
  const { warmStart, reinforcement } = usual.plan
  const budget = { tokens: 20_000, validations: 4 }
  return {
    ...usual,
    plan: {
      ...usual.plan,
      demonstrations: {},
      warmStart: { ...warmStart, fresh: true, budget, ...changes },
      reinforcement: { ...reinforcement, keep: 'best', budget },
      checkpointEvery: 4,
    },
  }
}

/** Training tasks that were opened, by phase. */
function watched(job: TrainJobOptions): {
  job: TrainJobOptions
  onEvent: (event: TrainingEvent) => void
  opened: Record<string, { id: string; kind: string }[]>
} {
  const opened: Record<string, { id: string; kind: string }[]> = {}
  let phase = ''
  const { environment } = job
  return {
    opened,
    onEvent: (event) => {
      if (event.type === 'phase') phase = event.name
    },
    job: {
      ...job,
      environment: {
        ...environment,
        open(task, options) {
          if (task.split === 'train') (opened[phase] ??= []).push({ id: task.id, kind: task.kind })
          return environment.open(task, options)
        },
      },
    },
  }
}

test('phases end by their computed tokens, with as many validations as the budget says', async () => {
  const { job, onEvent, opened } = watched(budgetedJob('whole'))
  const summary = await trainJob(job, { onEvent })
  const records = recordsOf(join(root, 'whole'))
  for (const phase of ['warm-start', 'rl']) {
    const validations = records.filter((record) => record.phase === `${phase}-validation`)
    expect(validations).toHaveLength(4)
    const spent = validations.map(({ metrics }) => metrics['computedTokens'])
    expect(spent[0]).toBe(0)
    // Evenly: each at the first step after its share.
    for (const [at, tokens] of spent.entries()) {
      expect(tokens).toBeGreaterThanOrEqual((at * 20_000) / 3)
      expect(tokens).toBeLessThan((at * 20_000) / 3 + 6000)
    }
  }
  const { computedTokens = 0, sampledTokens } = summary.cost
  expect(computedTokens).toBeGreaterThan(40_000 + sampledTokens / 10)
  // No demonstration comes twice, and all are counted.
  const shown = opened['warm-start']
  expect(new Set(shown.map(({ id }) => id)).size).toBe(shown.length)
  const steps = records.filter(({ phase }) => phase === 'warm-start').length
  expect(shown).toHaveLength(12 * steps)
  expect(summary.demonstrations).toEqual({ get: 6 * steps, put: 6 * steps })
  const losses = records.filter(({ phase }) => phase === 'warm-start').map(({ metrics }) => metrics['loss'])
  expect(losses.at(-1)).toBeLessThan(losses[0] / 2)
  expect(summary.reinforcement?.steps).toBe(records.filter(({ phase }) => phase === 'rl').length)
})

test('interrupted and resumed, a run with budgets ends with the same weights', async () => {
  const folder = join(root, 'resumed')
  for (let interruptions = 0; ; interruptions++) {
    const stop = new AbortController()
    let steps = 0
    const running = trainJob(
      { ...budgetedJob('resumed'), resume: interruptions > 0 },
      {
        signal: stop.signal,
        onEvent: (event) => {
          if (event.type === 'step' && interruptions < 4 && ++steps === 7) stop.abort(new Error('stop'))
        },
      },
    )
    if (interruptions < 4) await expect(running).rejects.toThrow('stop')
    else {
      await running
      break
    }
  }
  const weights = (path: string) => readFileSync(join(path, 'checkpoints', 'final', 'model.safetensors'))
  expect(weights(folder).equals(weights(join(root, 'whole')))).toBe(true)
  expect(existsSync(join(folder, 'summary.json'))).toBe(true)
})

test('kinds of task are drawn by their weights, in every phase', async () => {
  const fresh = budgetedJob('weighted', { kindWeights: { get: 3, put: 1 } })
  const { plan } = fresh
  const { job, onEvent, opened } = watched({
    ...fresh,
    plan: { ...plan, reinforcement: { ...plan.reinforcement, kindWeights: { put: 1 } } },
  })
  await trainJob(job, { onEvent })
  const share = (phase: string): number =>
    opened[phase].filter(({ kind }) => kind === 'get').length / opened[phase].length
  expect(share('warm-start')).toBeCloseTo(0.75, 2)
  expect(share('rl')).toBe(0)
})

test('each message of an episode counts once', () => {
  const nodes = [3, 5, 2].map((length) => ({ tokens: new Int32Array(length) }))
  expect(playedTokens([{ nodes }, { nodes }] as unknown as Episode[])).toBe(20)
})

test.each([
  { tokens: 0, validations: 4 },
  { tokens: 1000, validations: 1 },
])('the budget %o is refused', (budget) => {
  expect(() => checkBudget(budget)).toThrow(expect.objectContaining({ code: 'bad-plan' }))
})
