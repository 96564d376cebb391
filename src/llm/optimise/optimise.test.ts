import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LanguageModelV3CallOptions } from '@ai-sdk/provider'
import { generateText, jsonSchema, stepCountIs, tool } from 'ai'
import { expect, onTestFinished, test } from 'vitest'
import { uniformAt } from '../../engine/random/random.ts'
import type { FileTask } from '../environment/mcp/goals/task-file.ts'
import { type AgogeConfig, defineConfig, type ToolRules } from '../project/config.ts'
import { evaluate } from '../project/evaluate.ts'
import type { ProposalRequest } from '../project/optimise-settings.ts'
import { answerMatches } from '../project/scorers.ts'
import { scripted } from '../project/testing/scripted-model.ts'
import { optimise, type OptimiseEvent, type OptimiseOptions } from './optimise.ts'

type Call = LanguageModelV3CallOptions

const systemOf = ({ prompt }: Call): string =>
  prompt.map(({ role, content }) => (role === 'system' ? content : '')).join('')
const requestOf = ({ prompt }: Call): string => {
  const last = prompt.findLast(({ role }) => role === 'user')
  return last === undefined || typeof last.content === 'string'
    ? ''
    : last.content.map((part) => ('text' in part ? part.text : '')).join('')
}

/** Tasks of two kinds: the words are to be written with dashes, or backwards. */
const tasksOf = (train: number, validation: number, held: number): FileTask[] =>
  [
    ['train', train],
    ['validation', validation],
    ['test', held],
  ].flatMap(([split, count]) =>
    Array.from({ length: count as number }, (_, at) => ({
      id: `${split}-${at}`,
      split: split as 'train' | 'validation' | 'test',
      kind: at % 2 === 0 ? 'dash' : 'back',
      prompt: `${at % 2 === 0 ? 'dash' : 'back'}: ${split} word ${at}`,
      expected: { answer: right(at % 2 === 0 ? 'dash' : 'back', `${split} word ${at}`) },
    })),
  )

const right = (kind: string, words: string): string =>
  kind === 'dash' ? words.replaceAll(' ', '-') : words.split('').reverse().join('')

const agent = async (
  task: FileTask,
  { model, signal }: { model: Parameters<typeof generateText>[0]['model']; signal: AbortSignal },
) =>
  (await generateText({ model, system: 'Work.', prompt: task.prompt, temperature: 0, abortSignal: signal }))
    .text

/** Does what its system message says; without a word of it, right in a tenth of the cases. */
function answerOf(call: Call): string {
  const [, kind = '', words = ''] = /^(\w+): (.*)$/.exec(requestOf(call)) ?? []
  const system = systemOf(call)
  const knows = kind === 'dash' ? system.includes('dashes') : system.includes('backwards')
  return knows || uniformAt(1, `${words} ${system}`, 0) < 0.1 ? right(kind, words) : words
}

const obedient = scripted(answerOf)

const texts = [
  'Write with dashes.',
  'Be polite.',
  'Write backwards.',
  'Think about it.',
  'Answer with one word.',
]
const proposer = ({ seed, count }: ProposalRequest): string[] =>
  Array.from({ length: count }, (_, at) => texts[(seed + at) % texts.length])

async function run<Output, Tools extends ToolRules>(
  config: AgogeConfig<Output, Tools>,
  options: OptimiseOptions = {},
) {
  const events: OptimiseEvent[] = []
  const running = optimise(config, options)
  for await (const event of running) events.push(event)
  const result = await running.result
  if (result === null) throw new Error('a dry run')
  return { result, events }
}

const config = defineConfig({
  agent,
  tasks: tasksOf(24, 20, 40),
  score: answerMatches(),
  models: [obedient],
  maxOutputTokens: 20,
  budget: { tokens: 60_000 },
})

test('rules that help are found, joined, and shown on tasks that nothing saw before', async () => {
  const before = obedient.calls.length
  const { result, events } = await run(config, { proposer })
  expect(result.isShown).toBe(true)
  expect(result.best?.setup.playbook?.map(({ text }) => text).sort()).toEqual(
    expect.arrayContaining(['Write backwards.', 'Write with dashes.']),
  )
  expect(result.test?.models.map(({ success }) => success.mean > 0.9)).toEqual([false, true])
  // What was dropped is kept, with the reason.
  const dropped = result.candidates.filter(({ rejected }) => rejected !== undefined)
  expect(dropped.length).toBeGreaterThan(3)
  expect(result.levers.find(({ name }) => name === 'model-choice')?.note).toMatch(/one model/)
  // No test task was asked before the phase of the test.
  const searched = events.findIndex((event) => event.type === 'phase' && event.phase === 'test')
  const calls = events.slice(0, searched).filter(({ type }) => type === 'trial').length
  const asked = obedient.calls.slice(before).map(requestOf)
  const first = asked.findIndex((text) => text.includes('test word'))
  expect(first).toBeGreaterThanOrEqual(calls)
  // The setup is of use in an evaluation too.
  const { models } = await evaluate({ ...config, setup: result.best?.setup ?? { schema: 1 } }).result
  expect(models.map(({ name }) => name)).toEqual(['test/scripted', 'test/scripted + setup'])
  expect(models[1].success.mean).toBeGreaterThan(models[0].success.mean + 0.5)
}, 30_000)

test('where nothing helps it says so, and does not look at the test tasks', async () => {
  const deaf = scripted((call) => (uniformAt(1, requestOf(call), 0) < 0.4 ? 'right' : 'wrong'))
  const tasks = tasksOf(16, 16, 16).map((task) => ({ ...task, expected: { answer: 'right' } }))
  const { result } = await run({ ...config, tasks, models: [deaf] }, { proposer })
  expect(result).toMatchObject({ isShown: false, best: null, test: null })
  expect(result.stopped).toMatch(/every lever that could be used has ended/)
  expect(deaf.calls.some((call) => requestOf(call).includes('test word'))).toBe(false)
})

test('demonstrations are taken from solved tasks, without a proposer', async () => {
  // Right if a demonstration of its kind stands before the request.
  const imitator = scripted((call) => {
    const [, kind = '', words = ''] = /^(\w+): (.*)$/.exec(requestOf(call)) ?? []
    const shown = call.prompt.filter(({ role }) => role === 'user').length - 1
    const isShown = JSON.stringify(call.prompt.slice(0, -1)).includes(`${kind}: `)
    return (shown > 0 && isShown) || uniformAt(1, words, 0) < 0.2 ? right(kind, words) : words
  })
  const { result } = await run({ ...config, models: [imitator] })
  expect(result.isShown).toBe(true)
  expect(result.best?.lever).toContain('demonstrations')
  const ids = result.best?.setup.demonstrations?.map(({ task = '' }) => task) ?? []
  expect(ids.every((id) => id.startsWith('train-'))).toBe(true)
  expect(result.levers.find(({ name }) => name === 'playbook')?.note).toMatch(/optimise.proposer/)
})

test('descriptions of tools are changed for the model alone', async () => {
  const execute = ({ text }: { text: string }): string => `<${text}>`
  const brackets = tool({
    description: 'T1',
    inputSchema: jsonSchema<{ text: string }>({ type: 'object', properties: { text: { type: 'string' } } }),
    execute,
  })
  const reader = scripted((call) => {
    const last = call.prompt.at(-1)
    if (last?.role === 'tool') {
      const [part] = last.content
      return part.type === 'tool-result' && part.output.type === 'text' ? part.output.value : ''
    }
    const [offered] = call.tools ?? []
    const knows = offered?.type === 'function' && offered.description?.includes('brackets')
    return knows && offered !== undefined ? { tool: offered.name, input: { text: requestOf(call) } } : 'no'
  })
  const tasks = tasksOf(12, 12, 12).map((task) => ({
    ...task,
    prompt: task.id,
    expected: { answer: `<${task.id}>` },
  }))
  const { result } = await run(
    {
      ...config,
      agent: async (task, { model, tools }) =>
        (await generateText({ model, tools, prompt: task.prompt, stopWhen: stepCountIs(3) })).text,
      tasks,
      tools: { t1: { tool: brackets, mode: 'run' } },
      models: [reader],
    },
    {
      proposer: ({ lever }) =>
        lever === 'tool-descriptions'
          ? [
              '{"t1":{"name":"to_brackets","description":"Writes a text in brackets"}}',
              '{"t9":{}}',
              'no JSON',
            ]
          : ['Be kind.'],
    },
  )
  expect(result.isShown).toBe(true)
  expect(result.best?.setup.tools).toEqual({
    t1: { name: 'to_brackets', description: 'Writes a text in brackets' },
  })
})

test('the budget is never exceeded; without one, or with too little, it says what is needed', async () => {
  for (const tokens of [40_000, 25_000, 16_000]) {
    const { result } = await run({ ...config, budget: { tokens } }, { proposer })
    expect(result.spent.tokens).toBeLessThanOrEqual(tokens)
  }
  const { budget: _, ...unlimited } = config
  await expect(optimise(unlimited).result).rejects.toThrow(/needs a limit/)
  await expect(optimise({ ...config, budget: { tokens: 6000 } }).result).rejects.toThrow(/does not suffice/)
})

test('a dry run says what would be done, and calls nothing', async () => {
  const before = obedient.calls.length
  const running = optimise(config, { dryRun: true })
  const events: OptimiseEvent[] = []
  for await (const event of running) events.push(event)
  expect(await running.result).toBe(null)
  expect(events).toEqual([
    { type: 'plan', plan: expect.objectContaining({ train: 24, selection: 20, test: 40, leastTrials: 124 }) },
  ])
  expect(obedient.calls.length).toBe(before)
})

test('stopped after any call, it continues without asking the same again, with the same result', async () => {
  const whole = await run({ ...config, concurrency: 3 }, { proposer })
  for (const stopAt of [30, 100, 250]) {
    const out = mkdtempSync(join(tmpdir(), 'optimise-'))
    onTestFinished(() => rmSync(out, { recursive: true, force: true }))
    const stop = new AbortController()
    const counted = scripted((call) => {
      if (counted.calls.length === stopAt) stop.abort(new Error('stopped'))
      return answerOf(call)
    })
    const stopped = { ...config, concurrency: 3, models: [counted] }
    await expect(optimise(stopped, { proposer, out, signal: stop.signal }).result).rejects.toThrow('stopped')
    const { result } = await run(stopped, { proposer, out, resume: true })
    expect(comparable(result)).toEqual(comparable(whole.result))
    const kept = readFileSync(join(out, 'journal.jsonl'), 'utf8').split('\n')
    const answers = kept.filter((line) => line.includes('"type":"answer"')).length
    // At most the calls that were under way were made twice.
    expect(counted.calls.length - answers).toBeLessThanOrEqual(3)
  }
}, 60_000)

/** Without times, and without what calls that were cut off have cost. */
const comparable = (result: Awaited<ReturnType<typeof run>>['result']): unknown => {
  const { candidates, best, isShown, levers, stopped, test: held } = result
  return { candidates, best, isShown, levers, stopped, success: held?.models.map(({ success }) => success) }
}
