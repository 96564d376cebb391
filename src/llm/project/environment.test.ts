import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { generateText, stepCountIs } from 'ai'
import { expect, test } from 'vitest'
import { defineConfig } from './config.ts'
import { mcp } from './environment.ts'
import { evaluate, type EvaluationEvent } from './evaluate.ts'
import { answerMatches, stateEquals } from './scorers.ts'
import { request, type Said, scripted } from './testing/scripted-model.ts'

/** A folder with a config of the CRM of the fixtures. */
function crmFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-project-'))
  const server = fileURLToPath(new URL('../environment/mcp/fixtures/crm-server.mjs', import.meta.url))
  const config = {
    mcpServers: { crm: { command: process.execPath, args: [server] } },
    agoge: {
      crm: {
        reset: { files: ['crm.json'] },
        observe: ['list_contacts'],
        ignore: ['id', 'created_at'],
        env: { CRM_FILE: '{slot}/crm.json' },
      },
    },
  }
  writeFileSync(join(folder, '.mcp.json'), JSON.stringify(config))
  return folder
}

const tasks = [
  {
    id: 'add',
    prompt: 'Add Alan, alan@example.org.',
    reference: [{ name: 'create_contact', arguments: { name: 'Alan', email: 'alan@example.org' } }],
  },
  {
    id: 'email',
    prompt: 'What is the email of c2?',
    reference: [{ name: 'get_contact', arguments: { id: 'c2' } }],
    expected: { answer: 'grace@example.org' },
  },
  { id: 'wrong', prompt: 'Do what cannot be done.', reference: [{ name: 'fly', arguments: {} }] },
]

test('an agent acts on a state of its own in each trial, and is judged by state and answer', async () => {
  const able = (asked: string, acted: boolean): Said =>
    asked.startsWith('Add')
      ? acted
        ? 'Done.'
        : { tool: 'create_contact', input: { name: 'Alan', email: 'alan@example.org' } }
      : acted
        ? 'It is grace@example.org.'
        : { tool: 'get_contact', input: { id: 'c2' } }
  const model = scripted((options) =>
    able(
      request(options),
      options.prompt.some(({ role }) => role === 'tool'),
    ),
  )
  const idle = scripted(() => 'It is grace@example.org.', { modelId: 'idle' })
  const events: EvaluationEvent[] = []
  const plans: [string, boolean][] = []
  const running = evaluate(
    defineConfig({
      agent: async (task, { model: given, tools, signal }) =>
        (
          await generateText({
            model: given,
            tools,
            prompt: task.prompt,
            abortSignal: signal,
            stopWhen: stepCountIs(4),
          })
        ).text,
      environment: mcp('crm', { sandbox: true }),
      tasks,
      score: (trial, context) => (trial.given.id === 'add' ? stateEquals() : answerMatches())(trial, context),
      models: [model, idle],
      trials: 2,
    }),
    {
      folder: crmFolder(),
      onPlan: (...plan) => Promise.resolve(void plans.push(plan)),
    },
  )
  for await (const event of running) events.push(event)
  const { models, records } = await running.result
  expect(plans).toEqual([[expect.stringContaining('create_contact'), true]])
  expect(events).toContainEqual({
    type: 'refused',
    tasks: [{ id: 'wrong', reason: expect.stringContaining('no tool "fly"') as string }],
  })
  expect(records.map(({ model: name, task, success }) => [name, task, success])).toEqual([
    ...['add', 'add', 'email', 'email'].map((task) => ['test/idle', task, task === 'email']),
    ...['add', 'add', 'email', 'email'].map((task) => ['test/scripted', task, true]),
  ])
  expect(models[0]).toMatchObject({ toolCalls: 1, validCalls: 1, masked: 0 })
}, 60_000)

test('a refused plan ends the evaluation before any call', async () => {
  const model = scripted(() => 'Done.')
  const config = {
    agent: () => '',
    environment: mcp('crm', { sandbox: true }),
    tasks,
    score: stateEquals(),
    models: [model],
  }
  const refusing = { folder: crmFolder(), onPlan: () => Promise.reject(new Error('no')) }
  await expect(evaluate(config, refusing).result).rejects.toThrow('no')
  await expect(evaluate({ ...config, environment: mcp('nobody') }, refusing).result).rejects.toThrow(/nobody/)
  const stateless = { agent: () => '', tasks: tasks.slice(1, 2), score: stateEquals(), models: [model] }
  await expect(evaluate(stateless).result).rejects.toMatchObject({ code: 'bad-config' })
})
