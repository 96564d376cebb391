import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createMcpEnvironment } from '../mcp-environment.ts'
import { openFixture, solved } from '../testing/fixture-server.ts'
import { describeProfile } from './describe-profile.ts'
import type { ProfiledTools } from './profile-tools.ts'

async function profiled(name: string, env: Record<string, string>) {
  const environment = await openFixture(name, { sandbox: true, servers: 2 }, env)
  let profile: ProfiledTools | undefined
  const prepared = await environment.prepareTasks({
    seed: 2,
    counts: { train: 10 },
    onProfile: (found) => (profile = found),
  })
  if (profile === undefined) throw new Error('nothing was profiled')
  const effects = Object.fromEntries(
    profile.profiles.map(({ name: tool, effect, shownBy }) => [tool, { effect, shownBy: shownBy.join() }]),
  )
  return { environment, profile, effects, ...prepared }
}

test('a server that keeps its state in a file and makes up ids needs no entry: what it does is found', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'crm.json')
  const { environment, profile, effects, tasks } = await profiled('crm', { CRM_FILE: file, CRM_BARE: '1' })
  expect(environment.plan).toMatch(/^Up to 400 calls will be made to find out what the tools of "crm" do\./)
  expect(profile.calls).toBeLessThanOrEqual(400)
  expect(effects).toEqual({
    list_contacts: { effect: 'reading', shownBy: '' },
    get_contact: { effect: 'reading', shownBy: '' },
    create_contact: { effect: 'writing', shownBy: 'list_contacts' },
    update_contact: { effect: 'writing', shownBy: 'list_contacts' },
    delete_contact: { effect: 'writing', shownBy: 'list_contacts' },
  })
  expect(profile.observers).toEqual([{ name: 'list_contacts', arguments: {} }])
  // The process keeps nothing in memory, so restoring its files is enough.
  expect(profile.reset).toBe('restore')
  // Ids and times that are made up: what was played is recorded for a run that is resumed.
  expect(environment.deterministic).toBe(false)
  expect(describeProfile(profile)).toMatch(/create_contact +writes +it changes what .*list_contacts shows/)
  expect(new Set(await solved(environment, tasks.all('train')))).toEqual(new Set([true]))
  // It all happened in slots.
  expect(existsSync(file)).toBe(false)
})

test('a server that keeps its state in memory is restarted, since restoring files was proved wrong', async () => {
  const { environment, profile, effects, tasks, leftOut } = await profiled('sums', {})
  expect(profile.reset).toBe('restart')
  expect(effects).toMatchObject({
    add: { effect: 'pure' },
    now: { effect: 'unstable' },
    receipt: { effect: 'pure' },
    note: { effect: 'writing', shownBy: 'list_notes' },
    list_notes: { effect: 'reading' },
  })
  expect(leftOut.map(({ name }) => name)).toEqual(['now'])
  expect(new Set(await solved(environment, tasks.all('train')))).toEqual(new Set([true]))
  const [task] = tasks.all('train')
  for (let round = 0; round < 2; round++) {
    const session = await environment.open({ ...task, seeds: [] }, {})
    expect((await session.call('list_notes', {})).text).toBe('{"count":0,"notes":[]}')
    await session.call('note', { text: 'milk' })
    expect((await session.call('list_notes', {})).text).toBe('{"count":1,"notes":["milk"]}')
  }
})

test('lines that come in another order are no reason to restart a server, but are not compared', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'shelf.json')
  // So many that they do not come in the same order twice by chance.
  const items = [
    'lamp',
    'vase',
    'bowl',
    'book',
    'cup',
    'fork',
    'clock',
    'coin',
    'pen',
    'box',
    'jar',
    'bell',
  ].map((name) => [name, 'red'])
  writeFileSync(file, JSON.stringify(items))
  const { profile, effects } = await profiled('shelf', {
    SHELF_FILE: file,
    SHELF_TOOLS: 'put_item take_item list_items list_lines',
  })
  expect(profile.reset).toBe('restore')
  expect(effects).toMatchObject({
    put_item: { effect: 'writing', shownBy: expect.stringContaining('list_items') },
  })
  expect(profile.observers).toEqual([{ name: 'list_items', arguments: {} }])
})

test('files that a server writes for itself are no part of its state', async () => {
  const { environment, profile, effects, tasks, leftOut } = await profiled('copying', {})
  expect(effects).toMatchObject({
    list_notes: { effect: 'reading' },
    find_notes: { effect: expect.stringMatching(/^(?:pure|reading)$/) },
    add_note: { effect: 'writing', shownBy: 'list_notes' },
  })
  expect(leftOut).toEqual([])
  expect(profile.observers).toEqual([{ name: 'list_notes', arguments: {} }])
  expect(describeProfile(profile)).toMatch(/Not part of the state, .*copies\/notes-#-#-#T#-#-#-#Z\.txt/)
  expect(new Set(await solved(environment, tasks.all('train')))).toEqual(new Set([true]))
})

test('a sandbox does not speak for other hosts unless it says to', async () => {
  const server = { url: 'http://127.0.0.1:9/mcp' }
  await expect(createMcpEnvironment({ name: 'web', server, sandbox: true })).rejects.toMatchObject({
    code: 'sandbox-remote',
    hint: expect.stringMatching(/\n {2}--sandbox=remote\n[\s\S]*\n {2}--allow TOOL$/),
  })
  await expect(createMcpEnvironment({ name: 'web', server, sandbox: 'remote' })).rejects.toThrow(/connect/)
})
