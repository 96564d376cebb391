import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateText, Output, stepCountIs, streamText, tool } from 'ai'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { readEpisodes } from '../episode/codec.ts'
import { InfrastructureError } from '../tool/tool.ts'
import { type AgogeConfig, defineConfig } from './config.ts'
import { evaluate, type EvaluationEvent } from './evaluate.ts'
import { answerMatches } from './scorers.ts'
import { httpError, request, scripted } from './testing/scripted-model.ts'

const sums = Array.from({ length: 12 }, (_, i) => ({
  id: `sum-${i}`,
  prompt: `What is ${i} + 7?`,
  kind: i % 2 === 0 ? 'even' : 'odd',
  expected: { answer: i + 7 },
}))
const right = (asked: string): string => {
  const [, a, b] = /(\d+) \+ (\d+)/.exec(asked) ?? []
  return `It is ${Number(a) + Number(b)}.`
}
const asks: AgogeConfig['agent'] = async (task, { model }) =>
  (await generateText({ model, prompt: task.prompt })).text
const folder = (): string => mkdtempSync(join(tmpdir(), 'agoge-evaluate-'))
const quick = { backoffSeconds: 0.001 }

test('models are compared on the same tasks, with intervals, pass rates and costs', async () => {
  const good = scripted((options) => right(request(options)), { modelId: 'good' })
  const weak = scripted(
    (options) => (/[02468] \+/.test(request(options)) ? right(request(options)) : 'It is 3.'),
    {
      modelId: 'weak',
    },
  )
  const events: EvaluationEvent[] = []
  const running = evaluate(
    defineConfig({
      agent: asks,
      tasks: sums,
      score: answerMatches(),
      models: [weak, good],
      trials: 2,
      prices: { 'test/good': { input: 1, output: 2 } },
    }),
  )
  for await (const event of running) events.push(event)
  const result = await running.result
  expect(events.map(({ type }) => type)).toEqual(['plan', ...Array<string>(48).fill('trial'), 'result'])
  expect(result).toMatchObject({ isComplete: true, tasks: 12, trials: 2, warnings: [] })
  expect(result.models[0]).toMatchObject({
    name: 'test/weak',
    trials: 24,
    masked: 0,
    success: { mean: 0.5, n: 24 },
    kinds: { even: { mean: 1 }, odd: { mean: 0 } },
    passAt: [0.5, 0.5],
    passAll: [0.5, 0.5],
    noiseFloor: 0,
    scores: { score: { mean: 0.5, n: 12 } },
    dollars: null,
    tokens: 25,
    modelCalls: 1,
    validCalls: null,
  })
  expect(result.models[1]).toMatchObject({ success: { mean: 1 }, dollars: 0.00003 })
  expect(result.comparisons).toEqual([
    expect.objectContaining({ a: 'test/good', b: 'test/weak', mean: 0.5, n: 12 }),
  ])
  const [{ low, smallest, tasksNeeded }] = result.comparisons
  expect(low).toBeGreaterThan(0)
  expect([tasksNeeded, smallest! > 0]).toEqual([0, true])
  expect(result.spent).toEqual({ tokens: 48 * 25, dollars: 0.00072 })
})

const price = tool({
  description: 'The price of a thing.',
  inputSchema: z.object({ of: z.string() }),
  execute: ({ of }) => ({ price: of.length }),
})
const shopper = scripted(({ prompt }) =>
  prompt.some(({ role }) => role === 'tool') ? 'It costs 3.' : { tool: 'price', input: { of: 'tea' } },
)
const shopping = [{ id: 'tea', prompt: 'What does tea cost?', expected: { answer: 3 } }]

test.each(['generateText', 'streamText'] as const)(
  'an agent of %s with tools becomes an episode',
  async (how) => {
    const out = folder()
    const { records } = await evaluate(
      defineConfig({
        agent: async (task, { model, tools }) => {
          const settings = { model, tools, prompt: task.prompt, stopWhen: stepCountIs(3) }
          return how === 'generateText' ? (await generateText(settings)).text : streamText(settings).text
        },
        tasks: shopping,
        tools: { price: { tool: price, mode: 'run' } },
        score: { answer: answerMatches(), brief: ({ usage }) => Number(usage.calls <= 1) },
        models: [shopper],
      }),
      { out },
    ).result
    expect(records).toEqual([
      expect.objectContaining({
        success: true,
        scores: { answer: 1, brief: 1 },
        modelCalls: 2,
        usage: { promptTokens: 40, sampledTokens: 10, calls: 1, invalidCalls: 0 },
      }),
    ])
    const [{ nodes, samples }] = readEpisodes(join(out, 'episodes.jsonl'))
    expect(nodes.map(({ role, text }) => [role, text])).toEqual([
      ['user', 'What does tea cost?'],
      ['assistant', ''],
      ['tool', '{"price":3}'],
      ['assistant', 'It costs 3.'],
    ])
    expect(samples.map(({ path }) => path.length)).toEqual([1, 3])
    // Headers and bodies of a service are not stored.
    expect(readFileSync(join(out, 'journal.jsonl'), 'utf8')).not.toMatch(/secret|large/)
  },
)

test('calls that fail for a passing reason are made again; what lasts masks the trial and is no reward', async () => {
  const passing = scripted((options) => right(request(options)), {
    fail: (call) => (call % 2 === 1 ? httpError(503) : undefined),
  })
  const run = (model: typeof passing, more: Partial<AgogeConfig> = {}) =>
    evaluate({
      agent: asks,
      tasks: sums,
      score: answerMatches(),
      models: [model],
      concurrency: 1,
      ...quick,
      ...more,
    }).result
  expect((await run(passing)).models[0]).toMatchObject({ masked: 0, success: { mean: 1, n: 12 } })
  expect(passing.calls).toHaveLength(24)
  const broken = () =>
    scripted((options) => right(request(options)), {
      fail: (call) => (call % 2 === 1 ? httpError(422, 'content filter') : undefined),
    })
  // An agent that hides the fault has no answer of the model either.
  const hiding: AgogeConfig['agent'] = async (task, context) =>
    Promise.resolve(asks(task, context)).catch(() => 'It is 0.')
  for (const agent of [asks, hiding])
    expect((await run(broken(), { agent })).models[0]).toMatchObject({
      masked: 6,
      maskedReasons: { 'HTTP 422: status 422': 6 },
      success: { mean: 1, n: 6 },
    })
  const silent = scripted(() => 'It is 1.', { delay: 60_000 })
  expect((await run(silent, { callSeconds: 0.02, retries: 1, tasks: shopping })).models[0]).toMatchObject({
    masked: 1,
    maskedReasons: { 'the model gave no answer in 0.02 s': 1 },
  })
  const endless: AgogeConfig['agent'] = () => new Promise(() => {})
  expect(
    (await run(passing, { agent: endless, trialSeconds: 0.05, tasks: shopping })).models[0],
  ).toMatchObject({
    masked: 1,
    maskedReasons: { 'the trial took longer than 0.05 s': 1 },
  })
  const long = scripted(() => '', { fail: () => httpError(400, 'context_length_exceeded') })
  expect((await run(long, { tasks: shopping })).records[0]).toMatchObject({
    status: 'failed',
    ending: 'token-limit',
    success: false,
  })
  const refusing = scripted(() => '', { fail: () => httpError(401) })
  await expect(run(refusing)).rejects.toMatchObject({ code: 'model-endpoint-refused' })
  expect(refusing.calls).toHaveLength(1)
})

test('what a framework throws because of what the model wrote is a failure, unless a fault came before it', async () => {
  const schema = z.object({ sum: z.number() })
  const { records, models } = await evaluate({
    async agent({ prompt }, { model }) {
      if (prompt === 'hidden fault') await generateText({ model, prompt }).catch(() => {})
      if (prompt === 'other error') throw new TypeError('not a function')
      const { output } = await generateText({ model, prompt: 'the sum', output: Output.object({ schema }) })
      return output
    },
    tasks: ['no JSON', 'hidden fault', 'other error'].map((prompt) => ({
      id: prompt,
      prompt,
      expected: { answer: 7 },
    })),
    score: answerMatches(),
    models: [
      scripted((options) => {
        if (request(options) === 'hidden fault') throw httpError(500)
        return 'It is 7.'
      }),
    ],
    retries: 0,
  }).result
  expect(Object.fromEntries(records.map(({ task, status, success }) => [task, [status, success]]))).toEqual({
    'no JSON': ['failed', false],
    'hidden fault': ['masked', null],
    'other error': ['masked', null],
  })
  expect(records.find(({ task }) => task === 'no JSON')).toMatchObject({
    ending: 'answered',
    error: expect.stringMatching(/could not parse/),
  })
  expect(models[0]).toMatchObject({ masked: 2, success: { mean: 0, n: 1 } })
})

test('a scorer that cannot judge masks; one that is wrong ends the evaluation', async () => {
  const model = scripted(() => 'It is 3.')
  const run = (score: AgogeConfig['score']) =>
    evaluate({ agent: asks, tasks: shopping, score, models: [model] }).result
  const unsure = await run({
    a: () => null,
    b: () => {
      throw new InfrastructureError('the judge is closed')
    },
  })
  expect(unsure.records[0]).toMatchObject({
    status: 'masked',
    success: null,
    error: 'a: it could not be judged; b: the judge is closed',
  })
  const listed = await run([answerMatches(), () => 1, answerMatches()])
  expect(listed.records[0].scores).toEqual({ answer: 1, 'score 2': 1, 'answer 3': 1 })
  await expect(run(() => Number.NaN)).rejects.toMatchObject({ code: 'bad-reward' })
  await expect(
    run(() => {
      throw new Error('a mistake in the scorer')
    }),
  ).rejects.toThrow('a mistake in the scorer')
})

test('a budget is never exceeded, and a larger one continues', async () => {
  const out = folder()
  const model = scripted((options) => right(request(options)), { usage: { input: 100, output: 30 } })
  const config = (dollars: number): AgogeConfig => ({
    agent: asks,
    tasks: sums,
    score: answerMatches(),
    models: [model],
    concurrency: 4,
    maxOutputTokens: 50,
    prices: { 'test/scripted': { input: 10, output: 100 } },
    budget: { dollars },
  })
  // A call costs 0.004, and may cost 0.0162 at most as far as anybody knows before.
  const events: EvaluationEvent[] = []
  const first = evaluate(config(0.03), { out })
  for await (const event of first) events.push(event)
  const { spent, isComplete, records } = await first.result
  expect(spent.dollars).toBeLessThanOrEqual(0.03)
  expect([isComplete, records.length]).toEqual([false, model.calls.length])
  expect(records.length).toBeGreaterThan(1)
  expect(events.map(({ type }) => type)).toContain('budget-reached')
  const rest = await evaluate(config(1), { out, resume: true }).result
  expect(rest).toMatchObject({ isComplete: true, models: [{ success: { n: 12 } }] })
  expect(rest.spent.dollars).toBeCloseTo(12 * 0.004, 10)
  expect(model.calls).toHaveLength(12)
})

test('a stream that the agent leaves unread does not hold its part of the budget', async () => {
  const model = scripted(() => 'a long answer that nobody reads', { usage: { input: 10, output: 10 } })
  const { spent, isComplete } = await evaluate({
    agent: async (task, { model: given }) => {
      await given.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: task.prompt }] }] })
      return 'done'
    },
    tasks: sums,
    score: () => 1,
    models: [model],
    concurrency: 4,
    maxOutputTokens: 20,
    // Seven calls fit, which count with all that they reserved.
    budget: { tokens: 8000 },
  }).result
  expect(isComplete).toBe(false)
  expect(spent.tokens).toBeGreaterThan(5000)
  expect(spent.tokens).toBeLessThanOrEqual(8000)
})

test('a fault of a replayed tool masks every trial that waited for it, and is not kept', async () => {
  let calls = 0
  const broken = tool({
    inputSchema: z.object({ of: z.string() }),
    execute: async () => {
      calls += 1
      await new Promise((ready) => setTimeout(ready, 5))
      if (calls === 1) throw new InfrastructureError('the shop is closed')
      return 3
    },
  })
  const model = scripted(({ prompt }) =>
    prompt.some(({ role }) => role === 'tool') ? 'It costs 3.' : { tool: 'price', input: { of: 'tea' } },
  )
  const { records } = await evaluate(
    defineConfig({
      agent: async (task, { model: given, tools }) =>
        (await generateText({ model: given, tools, prompt: task.prompt, stopWhen: stepCountIs(3) })).text,
      tasks: shopping,
      trials: 4,
      concurrency: 2,
      tools: { price: { tool: broken, mode: 'replay' } },
      score: answerMatches(),
      models: [model],
    }),
  ).result
  expect(records.map(({ status, error }) => [status, error])).toEqual([
    ...[0, 1].map(() => ['masked', 'the tool "price" failed: the shop is closed']),
    ...[2, 3].map(() => ['ok', undefined]),
  ])
  expect(calls).toBe(2)
})

test('a stopped evaluation continues without repeating what was completed', async () => {
  const out = folder()
  const stop = new AbortController()
  let acted = 0
  const counting = tool({
    inputSchema: z.object({ of: z.string() }),
    execute: ({ of }) => {
      acted += 1
      return of.length
    },
  })
  const model = scripted(({ prompt }) =>
    prompt.some(({ role }) => role === 'tool') ? 'It costs 3.' : { tool: 'price', input: { of: 'tea' } },
  )
  let broken = true
  const config = defineConfig({
    agent: async (task, { model: given, tools }) => {
      const settings = { model: given, tools, prompt: task.prompt }
      const { toolResults } = await generateText(settings)
      if (broken && task.id === 'b') {
        stop.abort(new Error('stopped'))
        await new Promise(() => {})
      }
      expect(toolResults).toHaveLength(1)
      return (await generateText({ ...settings, stopWhen: stepCountIs(3) })).text
    },
    tasks: ['a', 'b', 'c'].map((id) => ({
      id,
      prompt: `What does tea cost, ${id}?`,
      expected: { answer: 3 },
    })),
    tools: { price: { tool: counting, mode: 'run' } },
    score: answerMatches(),
    models: [model],
    concurrency: 1,
  })
  await expect(evaluate(config, { out, signal: stop.signal }).result).rejects.toThrow('stopped')
  expect([model.calls.length, acted]).toEqual([4, 3])
  broken = false
  const { records, spent } = await evaluate(config, { out, resume: true }).result
  expect(records.map(({ success }) => success)).toEqual([true, true, true])
  // Three calls a trial, two of a tool: none was made twice.
  expect([model.calls.length, acted, spent.tokens]).toEqual([9, 6, 9 * 25])
  await expect(evaluate(config, { out }).result).rejects.toMatchObject({ code: 'run-exists' })
  const other = { ...config, trials: 2 }
  await expect(evaluate(other, { out, resume: true }).result).rejects.toMatchObject({
    code: 'bad-run-folder',
  })
})

test('until certain: it stops when the difference is clear, and not before', async () => {
  const many = Array.from({ length: 150 }, (_, i) => ({
    ...sums[0],
    id: `many-${i}`,
    prompt: `What is ${i} + 7?`,
    expected: { answer: i + 7 },
  }))
  const good = () => scripted((options) => right(request(options)), { modelId: 'good' })
  const weak = scripted(
    (options) => (/[0248] \+/.test(request(options)) ? right(request(options)) : 'It is -3.'),
    {
      modelId: 'weak',
    },
  )
  const twin = scripted((options) => right(request(options)), { modelId: 'twin' })
  const run = (models: AgogeConfig['models']) =>
    evaluate({ agent: asks, tasks: many, score: answerMatches(), models }, { untilCertain: true }).result
  const { sequential = [], records, isComplete } = await run([weak, good()])
  expect(isComplete).toBe(false)
  expect(records.length).toBeLessThan(200)
  expect(sequential).toEqual([expect.objectContaining({ a: 'test/good', b: 'test/weak', baseline: false })])
  expect(sequential[0].low).toBeGreaterThan(0)
  // The tasks are not the first of the list.
  expect(records.some(({ task }) => Number(task.slice('many-'.length)) >= 75)).toBe(true)
  const same = await run([twin, good()])
  expect([same.isComplete, same.sequential?.[0].mean]).toEqual([true, 0])
  await expect(run([good()])).rejects.toThrow(/nothing to be certain of/)
})

test('a config that cannot be used is refused with what is expected', async () => {
  const fine = { agent: asks, tasks: sums, score: answerMatches(), models: [shopper] }
  const refused: [object, RegExp][] = [
    [{ agent: 'me' }, /"agent"/],
    [{ tasks: 3 }, /"tasks"/],
    [{ tasks: [] }, /has no task/],
    [{ tasks: [sums[0], sums[0]] }, /two tasks with the id/],
    [{ tasks: [{ id: 'a' }] }, /task 1 of the config is no task/],
    [{ score: {} }, /"score"/],
    [{ models: [] }, /"models"/],
    [{ models: [shopper, shopper] }, /two models are called "test\/scripted"/],
    [{ models: ['nobody'] }, /"nobody" cannot be found/],
    [{ models: [{ kind: 'run', folder: 'no-such' }] }, /there is no model in no-such/],
    [{ trials: 0 }, /"trials"/],
    [{ environment: 'mcp:crm' }, /"environment"/],
    [{ tools: { price } }, /"tools.price"/],
    [{ budget: { dollars: -1 } }, /"budget.dollars"/],
    [{ budget: { dollars: 1 } }, /needs the price of each model/],
  ]
  for (const [change, message] of refused)
    await expect(evaluate({ ...fine, ...change }).result).rejects.toThrow(message)
})
