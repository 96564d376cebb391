import { generateText, stepCountIs } from 'ai'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { FileTask } from '../../environment/mcp/goals/task-file.ts'
import { mcp } from '../environment.ts'
import { stateEquals } from '../scorers.ts'
import { train } from '../train.ts'
import { splitTasks } from './split-tasks.ts'
import { tinyConfig } from './testing/tiny-training.ts'
import type { TrainConfigEvent } from './train-config.ts'

const names = ['Alan', 'Grace', 'Edsger', 'Barbara', 'Donald', 'Frances', 'John', 'Kathleen', 'Ken', 'Radia']

test('with an environment, the plan needs consent, references are played in fresh states, and each rollout has its own', async () => {
  const tasks: FileTask[] = names.map((name) => ({
    id: name,
    prompt: `Add ${name}, ${name.toLowerCase()}@example.org.`,
    reference: [{ name: 'create_contact', arguments: { name, email: `${name.toLowerCase()}@example.org` } }],
  }))
  const { config, folder } = await tinyConfig(
    {
      tasks,
      environment: mcp('crm', { sandbox: true }),
      score: stateEquals(),
      agent: async (task, { model, tools, signal }) => {
        const settings = { stopWhen: stepCountIs(3), maxOutputTokens: 60, abortSignal: signal }
        return (await generateText({ model, tools, prompt: task.prompt, ...settings })).text
      },
    },
    8000,
  )
  const server = fileURLToPath(new URL('../../environment/mcp/fixtures/crm-server.mjs', import.meta.url))
  const crm = {
    reset: { files: ['crm.json'] },
    observe: ['list_contacts'],
    ignore: ['id', 'created_at'],
    env: { CRM_FILE: '{slot}/crm.json' },
  }
  const mcpServers = { crm: { command: process.execPath, args: [server] } }
  writeFileSync(join(folder, '.mcp.json'), JSON.stringify({ mcpServers, agoge: { crm } }))
  let asked = false
  const events: TrainConfigEvent[] = []
  const running = train(config, {
    folder,
    out: join(folder, 'out'),
    steps: 5,
    groups: 2,
    groupSize: 2,
    demonstrations: 'tasks',
    async onPlan(plan, needsConsent) {
      asked = needsConsent && plan.includes('create_contact') && plan.includes('runs of the agent')
    },
  })
  try {
    for await (const event of running) events.push(event)
  } catch (error) {
    // So small a model does not learn it; what it is shown and how it is scored is tested here.
    expect(error).toMatchObject({ code: 'nothing-to-learn', given: '12 rollouts, of which 0 succeeded' })
  }
  expect(asked).toBe(true)
  const used = splitTasks(tasks).train.length
  const counts = { used, otherTasks: 0, failed: 0, tooLong: 0, unlike: 0 }
  expect(events).toContainEqual({ type: 'demonstrations', counts })
  const trials = events.flatMap((event) => (event.type === 'trial' ? [event.record] : []))
  expect(trials.length).toBeGreaterThan(0)
  expect(trials.every(({ status, error }) => status !== 'masked' && error === undefined)).toBe(true)
})
