import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createOpenAIActor } from '../agent/openai-actor.ts'
import type { McpTask } from '../environment/mcp/mcp-task.ts'
import { createToolsEnvironment } from '../environment/tools/tools-environment.ts'
import { rankReward } from '../reward/rewards.ts'
import { evaluateModels, modelsTable } from './evaluate-models.ts'

interface ChatRequest {
  model: string
  messages: { role: string; content: string | null }[]
  tools: { function: { name: string } }[]
}

/**
 * A server with OpenAI's protocol. "solver" follows the reference plans, "lazy" never calls a tool and "flaky" fails for every
 * second task.
 */
async function serve(tasks: readonly McpTask[]): Promise<string> {
  const byPrompt = new Map(tasks.map((task) => [task.prompt, task]))
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (data: Buffer) => (body += data.toString()))
    request.on('end', () => {
      const { model, messages, tools } = JSON.parse(body) as ChatRequest
      const task = byPrompt.get(messages.find((message) => message.role === 'user')?.content ?? '')
      if (task === undefined || tools.length !== 2) return response.writeHead(400).end('{}')
      if (model === 'flaky' && task.seed % 2 === 1) return response.writeHead(400 + 100).end('{}')
      const results = messages
        .filter((message) => message.role === 'tool')
        .map((message) => ({ text: message.content ?? '', isError: false }))
      const move = model === 'lazy' ? { answer: 'no idea' } : task.plan(results)
      const message =
        'answer' in move
          ? { role: 'assistant', content: move.answer }
          : {
              role: 'assistant',
              content: null,
              tool_calls: [
                {
                  id: `c${results.length}`,
                  type: 'function',
                  function: { name: move.call.name, arguments: JSON.stringify(move.call.arguments) },
                },
              ],
            }
      const choice = { index: 0, message, finish_reason: 'answer' in move ? 'stop' : 'tool_calls' }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ choices: [choice], usage: { prompt_tokens: 5, completion_tokens: 3 } }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

const tools = {
  double: {
    inputSchema: z.object({ number: z.number() }),
    execute: (given: { number: number }) => 2 * given.number,
  },
  shout: {
    inputSchema: z.object({ text: z.string() }),
    execute: (given: { text: string }) => given.text.toUpperCase(),
  },
}

test('models behind an endpoint: rates by kind and tool, masked apart, paired differences', async () => {
  const environment = await createToolsEnvironment({ tools })
  const { tasks: source } = await environment.prepareTasks({ seed: 1, counts: { test: 24 } })
  const tasks = source.all('test')
  const baseUrl = await serve(tasks)
  const models = ['solver', 'lazy', 'flaky'].map((model) => ({
    name: model,
    actor: createOpenAIActor({ baseUrl, model, apiKey: 'none', retries: 0, temperature: 0 }),
  }))
  const limits = { turns: 6, deadlineSeconds: 600, toolDeadlineSeconds: 120 }
  const seen: number[] = []
  const { report, episodes } = await evaluateModels({
    models,
    environment,
    tasks,
    limits,
    wave: 10,
    scorers: {
      brief: ({ usage }) => Promise.resolve(-usage.calls),
      // Receives the episodes of all models on a task.
      rank: rankReward(({ success }) => Number(success)),
    },
    onProgress: ({ done }) => seen.push(done),
  })
  const [solver, lazy, flaky] = report.models
  expect(solver.success).toMatchObject({ mean: 1, n: 24, high: 1 })
  expect(solver.success.low).toBeGreaterThan(0.8)
  expect(Object.keys(solver.tools)).toEqual(['double', 'shout'])
  expect(Object.keys(solver.kindEstimates)).toEqual(
    expect.arrayContaining(['double', 'shout', 'shout>shout'].slice(0, 2)),
  )
  expect(lazy.success).toMatchObject({ mean: 0, n: 24, low: 0 })
  expect(lazy.calls).toBe(0)
  // A failing endpoint is not the model's fault: those tasks are counted separately and not in the rate.
  const broken = tasks.filter((task) => task.seed % 2 === 1).length
  expect(flaky).toMatchObject({ masked: broken, success: { mean: 1, n: 24 - broken } })
  expect(report.differences.map(({ a, b, mean, n }) => ({ a, b, mean, n }))).toEqual([
    { a: 'lazy', b: 'solver', mean: -1, n: 24 },
    { a: 'flaky', b: 'solver', mean: 0, n: 24 - broken },
    { a: 'flaky', b: 'lazy', mean: 1, n: 24 - broken },
  ])
  expect(solver.scores?.['brief']).toMatchObject({ n: 24, mean: -solver.calls })
  expect(solver.scores?.['rank'].mean).toBeGreaterThan(0.7)
  expect(lazy.scores?.['rank'].mean).toBe(0)
  expect(flaky.scores?.['rank'].n).toBe(24 - broken)
  expect(episodes['solver']).toHaveLength(24)
  expect(seen).toEqual([10, 20, 24, 10, 20, 24, 10, 20, 24])
  const table = modelsTable(report)
  expect(table.header).toEqual(['tools', 'solver', 'lazy', 'flaky'])
  expect(table.rows[0]).toEqual([
    'success',
    expect.stringMatching(/^100% \[8\d%, 100%\]$/),
    expect.stringMatching(/^0%/),
    expect.any(String),
  ])
  expect(table.rows.at(-1)).toEqual(['masked', '0', '0', String(broken)])
})

test('models and tasks need names of their own', async () => {
  const environment = await createToolsEnvironment({ tools })
  const { tasks: source } = await environment.prepareTasks({ seed: 1, counts: { test: 2 } })
  const tasks = source.all('test')
  const limits = { turns: 2, deadlineSeconds: 600, toolDeadlineSeconds: 120 }
  const model = { name: 'm', actor: createOpenAIActor({ baseUrl: 'http://127.0.0.1:9/v1', model: 'm' }) }
  const run = (models: (typeof model)[], list: readonly McpTask[]) =>
    evaluateModels({ models, environment, tasks: list, limits })
  await expect(run([model, model], tasks)).rejects.toMatchObject({ code: 'duplicate-model' })
  await expect(run([model], [tasks[0], tasks[0]])).rejects.toMatchObject({ code: 'duplicate-task' })
  await expect(run([model], [])).rejects.toMatchObject({ code: 'no-tasks' })
})
