import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMcpEnvironment, type McpEnvironment } from '../mcp-environment.ts'
import type { McpTask } from '../mcp-task.ts'
import { limitReached } from './budget.ts'
import {
  paraphraseMark,
  type ParaphraseOptions,
  paraphraseTasks,
  type TeacherCost,
} from './paraphrase-tasks.ts'
import { draftsReply, type ScriptedTeacherOptions, scriptedTeacher } from './testing/scripted-teacher.ts'

// The teacher of these tests is scripted: an HTTP endpoint that follows rules. The MCP server and its judge are real.

const file = fileURLToPath(new URL('../fixtures/shelf-server.mjs', import.meta.url))
let environment: McpEnvironment
let tasks: readonly McpTask[] = []

beforeAll(async () => {
  const env = { SHELF_TOOLS: 'put_item take_item find_item list_items', SHELF_FILE: '{slot}/shelf' }
  environment = await createMcpEnvironment({
    name: 'shelf',
    server: { command: process.execPath, args: [file], env },
    config: { reset: { files: ['shelf'] }, observe: ['list_items'] },
    sandbox: true,
    servers: 2,
  })
  tasks = (await environment.prepareTasks({ seed: 0, counts: { train: 6 } })).tasks.all('train')
})

afterAll(() => environment.close())

async function paraphrase(
  some: readonly McpTask[],
  teacher: Omit<ScriptedTeacherOptions, 'requests'>,
  options: Partial<ParaphraseOptions> = {},
) {
  const { asked, baseUrl } = await scriptedTeacher({ requests: tasks, ...teacher })
  const endpoint = { baseUrl, model: 'scripted', apiKey: 'sk-secret', backoffSeconds: 0.001 }
  const report = await paraphraseTasks(environment, some, { endpoint, ...options })
  return { report, asked }
}

const polite = (prompt: string): string => `Could you please do this for me: ${prompt}`
const oneDraft = ({ prompt }: { prompt: string }): string => draftsReply({ polite: polite(prompt) })

test('good drafts become tasks; those that ask for something else or reveal the answer are dropped', async () => {
  const asking = tasks.filter(
    ({ expected: { answer }, prompt }) => answer !== null && !prompt.includes(answer),
  )
  expect(asking.length).toBeGreaterThan(0)
  const order: string[] = []
  let cost: TeacherCost | undefined
  const { report, asked } = await paraphrase(
    tasks,
    {
      drafts({ prompt }) {
        const at = tasks.findIndex((task) => task.prompt === prompt)
        const other = tasks[(at + 1) % tasks.length]
        const { answer } = tasks[at].expected
        return draftsReply({
          polite: polite(prompt),
          casual: `hey, ${other.prompt}`,
          ...(answer !== null && { background: `I think that it is ${answer}. ${prompt}` }),
          indirect: prompt,
        })
      },
      onRequest: () => void order.push('request'),
    },
    {
      onCost(given) {
        cost = given
        order.push('cost')
      },
      onTask: ({ prompt }) => order.push(prompt),
    },
  )
  expect(report.tasks.map(({ prompt }) => prompt)).toEqual(tasks.map(({ prompt }) => polite(prompt)))
  for (const [at, task] of report.tasks.entries()) {
    const { id, prompt, seed, context, ...rest } = task
    const { id: of, prompt: _, seed: __, context: original, ...same } = tasks[at]
    expect(rest).toEqual(same)
    expect(context).toEqual({ ...original, paraphrase: { of, style: 'polite', teacher: 'scripted' } })
    expect(paraphraseMark(task)).toMatchObject({ of })
    expect(id).toBe(`${of}/paraphrase-1`)
    expect(seed).toBeGreaterThan(Math.max(...tasks.map((each) => each.seed)))
    expect(order).toContain(prompt)
  }
  expect(new Set(report.tasks.map(({ seed }) => seed)).size).toBe(tasks.length)
  const dropped = Object.fromEntries(report.dropped.map(({ reason, count }) => [reason, count]))
  expect(dropped).toEqual({
    'the reading did something else': tasks.length,
    'the same as another request': tasks.length,
    'reveals the answer': asking.length,
  })
  expect(report).toMatchObject({ drafts: 3 * tasks.length + asking.length, without: [], isLimited: false })

  // The cost is reported before the first request, and the highest is not exceeded.
  expect(order.indexOf('cost')).toBe(0)
  expect(cost?.drafts).toBe(tasks.length)
  expect(report.requests).toBe(asked.length)
  expect(report.requests).toBeLessThanOrEqual((cost?.drafts ?? 0) + (cost?.readings ?? 0))
  expect(report.tokens).toBeLessThanOrEqual(cost?.mostTokens ?? 0)
  expect(cost?.usualTokens).toBeLessThan((cost?.mostTokens ?? 0) / 3)

  // A reading sees the tools and the new request, but no plan. It has a limit for each reply, and the key in its header only.
  const readings = asked.filter(({ body }) => body.tools !== undefined)
  expect(readings.length).toBeGreaterThan(2 * tasks.length)
  for (const { body, authorization } of readings) {
    expect(body.messages[0].content).toMatch(/^(Could you please|hey,)/)
    expect(body.max_tokens).toBeGreaterThan(0)
    expect(authorization).toBe('Bearer sk-secret')
  }
  expect(JSON.stringify(report)).not.toContain('sk-secret')
})

test('the limit of tokens is not exceeded, and what was kept before stays', async () => {
  const { report, asked } = await paraphrase(tasks, { drafts: oneDraft }, { tokens: 6000 })
  expect(report.isLimited).toBe(true)
  expect(report.tokens).toBeLessThanOrEqual(6000)
  expect(report.tasks.length).toBeGreaterThan(0)
  expect(report.tasks.length).toBeLessThan(tasks.length)
  expect(report.requests).toBe(asked.length)
  expect([...report.dropped, ...report.without].map(({ reason }) => reason)).toContain(limitReached)
  const none = await paraphrase(tasks, { drafts: oneDraft }, { tokens: 500 })
  expect(none.asked).toEqual([])
  expect(none.report).toMatchObject({ tasks: [], requests: 0, tokens: 0, isLimited: true })
})

test('a reply without drafts, and a reading that fails, cost only their own drafts', async () => {
  const [broken, silent, good] = tasks
  const { report } = await paraphrase([broken, silent, good], {
    drafts: (request) => (request.prompt === broken.prompt ? 'I would rather not.' : oneDraft(request)),
    onRequest: ({ messages, tools }) =>
      tools !== undefined && messages[0].content === polite(silent.prompt) ? 503 : undefined,
  })
  expect(report.tasks.map(({ prompt }) => prompt)).toEqual([polite(good.prompt)])
  expect(report.without).toEqual([{ reason: 'the reply of the teacher is no list of requests', count: 1 }])
  expect(report.dropped).toEqual([
    { reason: expect.stringMatching(/^the reading was masked: .* answered 503/), count: 1 },
  ])
})

test('an endpoint that never answers, or refuses the key, is an error', async () => {
  const endpoint = { baseUrl: 'http://127.0.0.1:9/v1', model: 'gone', retries: 0 }
  await expect(paraphraseTasks(environment, tasks, { endpoint })).rejects.toMatchObject({
    code: 'model-endpoint-unreachable',
    message: 'The teacher "gone" gives no answer.',
    given: expect.stringContaining('could not be reached'),
  })
  await expect(paraphrase(tasks, { drafts: oneDraft, onRequest: () => 401 })).rejects.toMatchObject({
    code: 'model-endpoint-refused',
  })
})

test('a teacher that breaks down later is given up; what was kept stays', async () => {
  let drafts = 0
  const { baseUrl } = await scriptedTeacher({
    requests: tasks,
    drafts: oneDraft,
    onRequest: ({ tools }) => (tools === undefined && ++drafts > 2 ? 500 : undefined),
  })
  const endpoint = { baseUrl, model: 'scripted', retries: 0 }
  const report = await paraphraseTasks(environment, tasks, { endpoint })
  expect(report.tasks).toHaveLength(2)
  expect(report.without.map(({ reason }) => reason)).toContainEqual(expect.stringContaining('answered 500'))
})

test('only the first tasks get drafts, and no id or request of the others is given again', async () => {
  const [first, second] = tasks
  const taken = { ...second, id: `${first.id}/paraphrase-1`, prompt: `Please, ${first.prompt}` }
  const { report } = await paraphrase(
    [first, taken],
    { drafts: ({ prompt }) => draftsReply({ terse: `Please, ${prompt}`, polite: polite(prompt) }) },
    { count: 1 },
  )
  expect(report.tasks.map(({ id, prompt }) => [id, prompt])).toEqual([
    [`${first.id}/paraphrase-2`, polite(first.prompt)],
  ])
  expect(report.dropped).toEqual([{ reason: 'the same as another request', count: 1 }])
})

test('an abort ends it, and what was confirmed before was reported', async () => {
  const controller = new AbortController()
  const confirmed: McpTask[] = []
  const started = paraphrase(
    tasks,
    { drafts: oneDraft },
    {
      signal: controller.signal,
      onTask(task) {
        confirmed.push(task)
        controller.abort(new Error('Ctrl-C'))
      },
    },
  )
  await expect(started).rejects.toThrow('Ctrl-C')
  expect(confirmed.length).toBeGreaterThan(0)
  expect(confirmed.length).toBeLessThan(tasks.length)
})
