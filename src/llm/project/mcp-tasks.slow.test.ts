import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { AgogeConfig } from './config.ts'
import { mcp } from './environment.ts'
import { evaluate } from './evaluate.ts'
import { mcpTasks } from './mcp-tasks.ts'
import { crmFolder } from './testing/crm-folder.ts'
import { scripted } from './testing/scripted-model.ts'

test('tasks made of a server are proved once, kept, and the same the next time', async () => {
  const folder = crmFolder()
  const plans: string[] = []
  const options = {
    folder,
    split: 'all' as const,
    onPlan: (plan: string) => Promise.resolve(void plans.push(plan)),
  }
  const refused: unknown[] = []
  const model = scripted(() => 'Done.')
  const run = async (config: Partial<AgogeConfig>) => {
    const running = evaluate(
      {
        agent: (task) => ({ text: '', reference: task.reference }),
        tasks: mcpTasks('crm', { count: 12 }),
        score: ({ given, judgement }) =>
          Number(given.expected?.state !== undefined && judgement !== undefined),
        models: [model],
        ...config,
      },
      options,
    )
    for await (const event of running) if (event.type === 'refused') refused.push(event.tasks)
    return (await running.result).records.map(({ task, success }) => [task, success])
  }
  const environment = mcp('crm', { sandbox: true })
  const made = await run({ environment })
  expect(made.length).toBeGreaterThanOrEqual(10)
  expect(made.every(([, success]) => success === true)).toBe(true)
  // One server for the tasks and the trials.
  expect(plans).toEqual([expect.stringContaining('create_contact')])

  const kept = join(folder, '.agoge', 'tasks')
  const [file] = readdirSync(kept)
  const lines = readFileSync(join(kept, file), 'utf8').trim().split('\n')
  expect(new Set(lines.map((line) => (JSON.parse(line) as { split: string }).split))).toContain('test')
  expect(new Set(lines.map((line) => (JSON.parse(line) as { id: string }).id))).toEqual(
    new Set(made.map(([id]) => id)),
  )
  expect(await run({ environment })).toEqual(made)
  // Tasks that are kept need no server.
  const alone = { tasks: mcpTasks('crm', { count: 12, sandbox: true }), score: () => 1 }
  plans.length = 0
  const without = await run(alone)
  expect([...new Set(without.map(([id]) => id))]).toEqual(made.map(([id]) => id))
  expect(plans).toEqual([])
  // Made anew, they are the same.
  expect(await run({ ...alone, tasks: mcpTasks('crm', { count: 12, sandbox: true, fresh: true }) })).toEqual(
    without,
  )
  expect(plans.length).toBe(1)
  expect(readFileSync(join(kept, file), 'utf8').trim().split('\n')).toEqual(lines)
  expect(refused).toEqual([])
}, 120_000)
