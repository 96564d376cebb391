import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { crmConfig, openFixture, pasted, solved } from './testing/fixture-server.ts'

// Tools of which the server does not say whether they change anything. unmarked-tools.slow.test.ts has more of them.
vi.setConfig({ testTimeout: 240_000 })

test('tools without annotations that change nothing carry tasks in a sandbox; a clock and a writer are left out with the reason', async () => {
  const environment = await openFixture('sums', { sandbox: true })
  expect(environment.plan).toMatch(/add +MAY CHANGE STATE: it is tried first \(--sandbox\)/)
  const { tasks, leftOut, hint } = await environment.prepareTasks({ seed: 1, counts: { train: 12, test: 6 } })
  expect(tasks.kinds).toEqual(expect.arrayContaining(['add', 'unix_time', 'list_notes']))
  expect(tasks.kinds).not.toContain('note')
  const reasons = Object.fromEntries(leftOut.map((tool) => [tool.name, tool.reason]))
  expect(reasons).toEqual({
    now: 'the same call gives another result when repeated',
    note: 'it changes what list_notes shows, and the "agoge" entry declares no "reset" and no "observe"',
  })
  const all = [...tasks.all('train'), ...tasks.all('test')]
  expect(new Set(await solved(environment, all))).toEqual(new Set([true]))
  expect(pasted(hint, 'sums')).toEqual({ reset: 'restart', observe: ['list_notes'] })
})

test('--allow of one tool tries that one and no other; where it cannot be used nothing is advised that was given', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const log = join(folder, 'calls')
  writeFileSync(log, '')
  const environment = await openFixture('sums', { allow: ['add'] }, { SUMS_LOG: log })
  expect(environment.plan).toContain('note: may change something (no readOnlyHint)')
  const { tasks } = await environment.prepareTasks({ seed: 1, counts: { train: 4 } })
  expect(tasks.kinds).toEqual(['add'])
  expect(new Set(readFileSync(log, 'utf8').split('\n').filter(Boolean))).toEqual(new Set(['add']))

  const clock = await openFixture('sums', { allow: ['now'] }, { SUMS_TOOLS: 'now' })
  await expect(clock.prepareTasks({ seed: 1, counts: { train: 4 } })).rejects.toMatchObject({
    code: 'no-tasks',
    message: expect.stringContaining('now: the same call gives another result when repeated'),
    hint: undefined,
  })
  const writer = await openFixture('sums', { sandbox: true, allow: ['note'] }, { SUMS_TOOLS: 'note' })
  const error = await writer
    .prepareTasks({ seed: 1, counts: { train: 4 } })
    .then(undefined, (reason: unknown) => reason as { hint?: string })
  // Nothing shows what it changed, and it answers the same each time: no more can be known.
  expect(error).toMatchObject({ tasks: { kinds: ['note'] } })
})

test('ids come from what reading tools show, generated ones are ignored in states and answers', async () => {
  const environment = await openFixture('crm', { sandbox: true, config: crmConfig }, { CRM_BARE: '1' })
  // Ids differ from play to play: what was played is recorded for a run that is resumed.
  expect(environment.deterministic).toBe(false)
  const { tasks, leftOut } = await environment.prepareTasks({ seed: 3, counts: { train: 24, test: 12 } })
  // The list is longer than what the model is shown of a result.
  expect(leftOut.map((tool) => tool.name)).toEqual(['list_contacts'])
  expect(tasks.kinds).toEqual(
    expect.arrayContaining(['get_contact', 'create_contact', 'update_contact', 'delete_contact']),
  )
  const all = [...tasks.all('train'), ...tasks.all('test')]
  for (const { prompt } of all.filter(({ kind }) => /^(get|update|delete)_contact$/.test(kind)))
    expect(prompt).toMatch(/\bc[123]\b/)
  for (const { prompt } of all) expect(prompt).not.toMatch(/(the|its) (id|created at)\b/)
  expect(new Set(await solved(environment, all))).toEqual(new Set([true]))
})
