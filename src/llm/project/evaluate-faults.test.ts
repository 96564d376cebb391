import { generateText, streamText } from 'ai'
import { expect, test } from 'vitest'
import { createRandom } from '../../engine/random/random.ts'
import type { AgogeConfig } from './config.ts'
import { evaluate } from './evaluate.ts'
import { answerMatches } from './scorers.ts'
import { httpError, request, scripted } from './testing/scripted-model.ts'

const share = 0.6
/** Tasks of which the model does six of ten. */
const tasks = Array.from({ length: 200 }, (_, i) => ({
  id: `${i}`,
  prompt: `task ${i}`,
  expected: { answer: i },
}))
const does = (asked: string): string => {
  const n = Number(asked.slice('task '.length))
  return String(n % 10 < 10 * share ? n : -1)
}

const agents: Record<string, AgogeConfig['agent']> = {
  generateText: async ({ prompt }, { model }) => (await generateText({ model, prompt })).text,
  streamText: async ({ prompt }, { model }) => {
    let text = ''
    for await (const delta of streamText({ model, prompt, onError: () => {} }).textStream) text += delta
    return text
  },
}

test.each(
  [0.1, 0.5, 0.9].flatMap((rate) =>
    (['failing', 'slow', 'cut off'] as const).map((kind) => ({ rate, kind })),
  ),
)(
  'calls that are $kind in a share of $rate are no rewards, and the estimate and the budget hold',
  async ({ rate, kind }) => {
    const random = createRandom('faults', kind, rate)
    const strikes = new Map<number, boolean>()
    const isStruck = (call: number): boolean => {
      if (!strikes.has(call)) strikes.set(call, random.next() < rate)
      return strikes.get(call) === true
    }
    const model = scripted((options) => does(request(options)), {
      usage: { input: 10, output: 3 },
      ...(kind === 'failing' && { fail: (call: number) => (isStruck(call) ? httpError(503) : undefined) }),
      ...(kind === 'cut off' && { cut: isStruck }),
      ...(kind === 'slow' && { delayOf: (call: number) => (isStruck(call) ? 60_000 : 0) }),
    })
    const budget = { tokens: 2_000_000 }
    const { models, records, spent } = await evaluate({
      agent: agents[kind === 'cut off' ? 'streamText' : 'generateText'],
      tasks,
      score: answerMatches(),
      models: [model],
      retries: 1,
      backoffSeconds: 0.0005,
      callSeconds: 0.05,
      concurrency: 50,
      budget,
    }).result
    const [{ success, masked }] = models
    // What was judged is what the model does without faults, task by task.
    for (const record of records)
      if (record.status !== 'masked') expect(record.success).toBe(does(`task ${record.task}`) === record.task)
    expect(records.every(({ status }) => status !== 'failed')).toBe(true)
    const isTriedAgain = kind !== 'cut off'
    expect(masked / tasks.length).toBeGreaterThan((isTriedAgain ? rate ** 2 : rate) - 0.1)
    // Which trials are left is chance, and of a 95% interval every twentieth would miss the share: so the estimate is that of
    // the trials that are left, its interval holds it, and it is within four standard errors of the share.
    const judged = records.filter(({ status }) => status !== 'masked')
    const succeeded = judged.filter((record) => record.success === true).length
    expect(success.mean).toBeCloseTo(succeeded / judged.length, 10)
    expect([success.low <= success.mean, success.high >= success.mean]).toEqual([true, true])
    expect(Math.abs(success.mean - share)).toBeLessThan(4 * Math.sqrt((share * (1 - share)) / judged.length))
    expect(spent.tokens).toBeLessThanOrEqual(budget.tokens)
  },
)
