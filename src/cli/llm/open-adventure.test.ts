import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createExpertActor } from '../../llm/agent/expert-actor.ts'
import { runEpisodes } from '../../llm/agent/turn-loop.ts'
import { openEnvironment } from './open-environment.ts'
import { agoge } from '../testing/agoge.ts'

/** The environment as the commands open it, without a terminal. */
const opened = () =>
  openEnvironment(
    { environment: 'adventure' },
    { seed: 0 },
    {
      out: () => {},
      err: () => {},
      progress: { write: () => {} },
      signal: new AbortController().signal,
      debug: false,
    },
  )

const planned = async (count: number) =>
  (await opened()).heldOut('test', count).map((task) => ({ id: task.id, group: task.id, task }))

test('held-out quests are all different, and can be done within the limits', async () => {
  const { environment, plan } = await opened()
  const specs = await planned(60)
  expect(new Set(specs.map(({ task }) => task.prompt)).size).toBe(60)
  const expert = createExpertActor({ tasks: new Map(specs.map((spec) => [spec.id, spec.task])) })
  const episodes = await runEpisodes(specs, expert, environment, plan.limits)
  expect(episodes.filter(({ success }) => success !== true)).toEqual([])
})

interface Asked {
  model: string
  messages: { role: string; content: string | null }[]
}

/** An OpenAI-compatible endpoint that does every quest, or only talks. */
async function serve(): Promise<string> {
  const specs = await planned(6)
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (data: Buffer) => (body += data.toString()))
    request.on('end', () => {
      const { model, messages } = JSON.parse(body) as Asked
      const prompt = messages.find(({ role }) => role === 'user')?.content
      const task = specs.find((spec) => spec.task.prompt === prompt)?.task
      const results = messages
        .filter(({ role }) => role === 'tool')
        .map(({ content }) => ({ text: content ?? '', isError: false }))
      const move = task === undefined || model === 'idle' ? { answer: 'done' } : task.plan(results)
      const message =
        'answer' in move
          ? { content: move.answer }
          : {
              content: null,
              tool_calls: [
                {
                  id: 'x',
                  type: 'function',
                  function: { ...move.call, arguments: JSON.stringify(move.call.arguments) },
                },
              ],
            }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', ...message } }] }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

test('a model behind an endpoint plays it', async () => {
  const url = await serve()
  const models = ['--model', `${url}#planner`, '--model', `${url}#idle`]
  const { code, out, err } = await agoge('eval', 'adventure', ...models, '--tasks', '6')
  expect({ code, err }).toMatchObject({ code: 0 })
  expect(out).toMatch(/^adventure +planner +idle$/m)
  expect(out).toMatch(/^success +100% .* +0% \[/m)
})

test('it is an environment of language models to the other commands', async () => {
  expect((await agoge('train', 'adventure', '--preset', 'cleanrl')).err).toContain(
    '--preset means nothing for adventure',
  )
})
