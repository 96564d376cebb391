import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createPlannerActor, runEpisodes } from '../../agent/index.ts'
import { createMcpWorld } from './mcp-world.ts'
import type { McpWorld, McpWorldOptions } from './mcp-world.ts'
import type { McpTask } from './mcp-task.ts'
import { parseWorldConfig } from './world-config.ts'

const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}.mjs`, import.meta.url))
vi.setConfig({ testTimeout: 240_000 })

async function open(
  name: string,
  options: Partial<McpWorldOptions>,
  env: Record<string, string> = {},
): Promise<McpWorld> {
  const server = { command: process.execPath, args: [fixture(`${name}-server`)], env }
  const world = await createMcpWorld({ name, server, slots: 1, ...options })
  onTestFinished(() => world.close())
  return world
}

async function solved(world: McpWorld, tasks: readonly McpTask[]): Promise<(boolean | null)[]> {
  const specs = tasks.map((task, index) => ({ id: `e${index}`, group: task.id, task }))
  const actor = createPlannerActor({ tasks: new Map(specs.map((spec) => [spec.id, spec.task])) })
  const limits = { turns: 6, deadlineSeconds: 60, toolDeadlineSeconds: 20 }
  return (await runEpisodes(specs, actor, world, limits)).map(({ success }) => success)
}

/** The part of a hint that is to be pasted, read as the configuration of the server. */
function pasted(hint: string | undefined, name: string) {
  const line = hint?.split('\n').find((each) => each.includes('"agoge"')) ?? ''
  const { agoge } = JSON.parse(`{${line}}`) as { agoge: Record<string, unknown> }
  return parseWorldConfig(agoge[name], 'hint')
}

test('tools without annotations that change nothing carry tasks in a sandbox; a clock and a writer are left out with the reason', async () => {
  const world = await open('sums', { sandbox: true })
  expect(world.plan).toMatch(/add +MAY CHANGE STATE: it is tried first \(--sandbox\)/)
  const { tasks, leftOut, hint } = await world.prepareTasks({ seed: 1, counts: { train: 12, test: 6 } })
  expect(tasks.families).toEqual(expect.arrayContaining(['add', 'unix_time', 'list_notes']))
  expect(tasks.families).not.toContain('note')
  const reasons = Object.fromEntries(leftOut.map((tool) => [tool.name, tool.reason]))
  expect(reasons).toEqual({
    now: 'the same call gives another result when repeated',
    note: 'it changes what list_notes shows, and the "agoge" entry declares no "reset" and no "observe"',
  })
  const all = [...tasks.all('train'), ...tasks.all('test')]
  expect(new Set(await solved(world, all))).toEqual(new Set([true]))

  // What is to be pasted does what it says.
  const config = pasted(hint, 'sums')
  expect(config.reset).toBe('restart')
  expect(config.observe).toContain('list_notes')
  const options = { sandbox: true, config: { ...config, observe: ['list_notes'] } }
  const reset = await open('sums', options, { SUMS_TOOLS: 'note list_notes' })
  const again = await reset.prepareTasks({ seed: 1, counts: { train: 3 } })
  expect(again.tasks.families).toEqual(expect.arrayContaining(['note', 'list_notes']))
  expect(again.leftOut).toEqual([])
  expect(new Set(await solved(reset, again.tasks.all('train')))).toEqual(new Set([true]))
})

test('what a tool wrote while it was tried is gone before tasks are made of the others', async () => {
  const world = await open('sums', { sandbox: true }, { SUMS_TOOLS: 'note list_notes' })
  const { tasks } = await world.prepareTasks({ seed: 2, counts: { train: 2 } })
  const session = await world.open(tasks.all('train')[0], {})
  expect((await session.call('list_notes', {})).text).toBe('{"count":0,"notes":[]}')
})

test('--allow of one tool tries that one and no other; where it cannot be used nothing is advised that was given', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const log = join(folder, 'calls')
  writeFileSync(log, '')
  const world = await open('sums', { allow: ['add'] }, { SUMS_LOG: log })
  expect(world.plan).toContain('note: may change something (no readOnlyHint)')
  const { tasks } = await world.prepareTasks({ seed: 1, counts: { train: 4 } })
  expect(tasks.families).toEqual(['add'])
  expect(new Set(readFileSync(log, 'utf8').split('\n').filter(Boolean))).toEqual(new Set(['add']))

  const clock = await open('sums', { allow: ['now'] }, { SUMS_TOOLS: 'now' })
  await expect(clock.prepareTasks({ seed: 1, counts: { train: 4 } })).rejects.toMatchObject({
    code: 'no-tasks',
    message: expect.stringContaining('now: the same call gives another result when repeated'),
    hint: undefined,
  })
  const writer = await open('sums', { sandbox: true, allow: ['note'] }, { SUMS_TOOLS: 'note' })
  const error = await writer
    .prepareTasks({ seed: 1, counts: { train: 4 } })
    .then(undefined, (reason: unknown) => reason as { hint?: string })
  // Nothing shows what it changed, and it answers the same each time: no more can be known.
  expect(error).toMatchObject({ tasks: { families: ['note'] } })
})

test('without a flag no tool without readOnlyHint runs, and the flags are advised; with one they are not', async () => {
  await expect(open('sums', {})).rejects.toMatchObject({
    code: 'nothing-allowed',
    hint: expect.stringMatching(/^Admit add, unix_time, now, note, list_notes: --allow TOOL/),
  })
  const crm = open('crm', { sandbox: true }, { CRM_FILE: '{slot}/crm.json' })
  const { plan } = await crm
  expect(plan).toContain(
    'update_contact: changes something (by its annotations), and the "agoge" entry declares no "reset" and no "observe"',
  )
  const { hint } = await (await crm).prepareTasks({ seed: 1, counts: { train: 4 } })
  expect(hint).not.toMatch(/--allow|--sandbox/)
  expect(pasted(hint, 'crm')).toMatchObject({ reset: 'restart', observe: ['list_contacts'] })
})

test.each([{}, { CRM_BARE: '1' }])(
  'ids come from what reading tools show, generated ones are ignored in states and answers (%o)',
  async (env) => {
    const config = {
      reset: { files: ['crm.json'] },
      observe: ['list_contacts'],
      ignore: ['id', 'created_at'],
      env: { CRM_FILE: '{slot}/crm.json' },
    }
    const world = await open('crm', { sandbox: true, config }, env)
    // Ids differ from play to play: what was played is recorded for a run that is resumed.
    expect(world.deterministic).toBe(false)
    const { tasks, leftOut } = await world.prepareTasks({ seed: 3, counts: { train: 24, test: 12 } })
    // The list is longer than what the model is shown of a result.
    expect(leftOut.map((tool) => tool.name)).toEqual(['list_contacts'])
    expect(tasks.families).toEqual(
      expect.arrayContaining(['get_contact', 'create_contact', 'update_contact', 'delete_contact']),
    )
    const all = [...tasks.all('train'), ...tasks.all('test')]
    for (const { prompt } of all.filter(({ family }) => /^(get|update|delete)_contact$/.test(family)))
      expect(prompt).toMatch(/\bc[123]\b/)
    for (const { prompt } of all) expect(prompt).not.toMatch(/(the|its) (id|created at)\b/)
    expect(new Set(await solved(world, all))).toEqual(new Set([true]))
  },
)
