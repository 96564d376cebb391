import { expect, test } from 'vitest'
import { crmConfig, openFixture, pasted, solved } from './testing/fixture-server.ts'

const unreset = { reset: 'none' as const, observe: [] }

test('the configuration in a hint works as described', async () => {
  const environment = await openFixture(
    'sums',
    { sandbox: true, config: unreset },
    { SUMS_TOOLS: 'note list_notes' },
  )
  const { hint } = await environment.prepareTasks({ seed: 1, counts: { train: 2 } })
  const config = pasted(hint, 'sums')
  expect(config).toEqual({ reset: 'restart', observe: ['list_notes'] })
  const reset = await openFixture('sums', { sandbox: true, config }, { SUMS_TOOLS: 'note list_notes' })
  const again = await reset.prepareTasks({ seed: 1, counts: { train: 3 } })
  expect(again.tasks.kinds).toEqual(expect.arrayContaining(['note', 'list_notes']))
  expect(again.leftOut).toEqual([])
  expect(new Set(await solved(reset, again.tasks.all('train')))).toEqual(new Set([true]))
})

test('what a tool wrote while it was tried is gone before tasks are made of the others', async () => {
  const environment = await openFixture(
    'sums',
    { sandbox: true, config: unreset },
    { SUMS_TOOLS: 'note list_notes' },
  )
  const { tasks } = await environment.prepareTasks({ seed: 2, counts: { train: 2 } })
  const session = await environment.open(tasks.all('train')[0], {})
  expect((await session.call('list_notes', {})).text).toBe('{"count":0,"notes":[]}')
})

test('without a flag no tool without readOnlyHint runs, and the flags are advised; with one they are not', async () => {
  await expect(openFixture('sums', {})).rejects.toMatchObject({
    code: 'nothing-allowed',
    hint: expect.stringMatching(/^Admit add, unix_time, now, receipt, note, list_notes: --allow TOOL/),
  })
  const crm = openFixture('crm', { sandbox: true, config: unreset }, { CRM_FILE: '{slot}/crm.json' })
  const { plan } = await crm
  expect(plan).toContain(
    'update_contact: changes something (by its annotations), and its state cannot be reset',
  )
  const { hint } = await (await crm).prepareTasks({ seed: 1, counts: { train: 4 } })
  expect(hint).not.toMatch(/--allow|--sandbox/)
  expect(pasted(hint, 'crm')).toMatchObject({ reset: 'restart', observe: ['list_contacts'] })
})

test('the same holds for tools with annotations', async () => {
  const environment = await openFixture('crm', { sandbox: true, config: crmConfig })
  const { tasks, leftOut } = await environment.prepareTasks({ seed: 3, counts: { train: 12 } })
  expect(leftOut.map((tool) => tool.name)).toEqual(['list_contacts'])
  expect(tasks.kinds).toEqual(
    expect.arrayContaining(['get_contact', 'create_contact', 'update_contact', 'delete_contact']),
  )
  expect(new Set(await solved(environment, tasks.all('train')))).toEqual(new Set([true]))
})
