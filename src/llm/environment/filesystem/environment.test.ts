import { readScore } from '../../episode/score.ts'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createExpertActor } from '../../agent/expert-actor.ts'
import { runEpisodes } from '../../agent/turn-loop.ts'
import type { ToolSession } from '../../agent/types.ts'
import { InfrastructureError } from '../../tool/tool.ts'
import type { FilesystemTask } from './task.ts'
import { filesystemTasks } from './tasks.ts'
import { createFilesystemEnvironment } from './environment.ts'
import type { FilesystemEnvironment } from './environment.ts'

let outside: string
let environment: FilesystemEnvironment

beforeAll(async () => {
  // In memory where there is such a place: making and removing sandboxes on a disk is slow.
  outside = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'agoge-environment-test-'))
  writeFileSync(join(outside, 'secret.txt'), 'secret')
  environment = await createFilesystemEnvironment({ sandboxRoot: join(outside, 'boxes') })
})

afterAll(async () => {
  await environment.close()
  expect(readdirSync(join(outside, 'boxes'))).toEqual([])
  rmSync(outside, { recursive: true })
})

const limits = { turns: 8, deadlineSeconds: 600, toolDeadlineSeconds: 120 }

function tasks(split: FilesystemTask['split'], count: number): FilesystemTask[] {
  return Array.from({ length: count }, (_, seed) => filesystemTasks.task({ split, seed }))
}

/** The folder of the n-th open sandbox on the disk. */
function places(): string[] {
  const [home] = readdirSync(join(outside, 'boxes'))
  return readdirSync(join(outside, 'boxes', home))
    .map((name) => join(outside, 'boxes', home, name))
    .toSorted((a, b) => Number(/\d+$/.exec(a)?.[0]) - Number(/\d+$/.exec(b)?.[0]))
}

async function openTwo(): Promise<[ToolSession, ToolSession]> {
  const [first, second] = tasks('train', 2)
  return [await environment.open(first, {}), await environment.open(second, {})]
}

test('the expert solves every kind of every split through the real server', async () => {
  for (const split of ['train', 'validation', 'test', 'unseen-paraphrase'] as const) {
    const all = tasks(split, 200)
    const actor = createExpertActor({ tasks: new Map(all.map((task) => [task.id, task])) })
    const specs = all.map((task) => ({ id: task.id, group: task.id, task }))
    const episodes = await runEpisodes(specs, actor, environment, limits)
    const wrong = episodes.filter((episode) => episode.success !== true)
    expect(wrong.map((episode) => episode.nodes.map(({ text }) => text))).toEqual([])
    expect(episodes.every((episode) => episode.usage.invalidCalls === 0)).toBe(true)
    // What the context says of a plan is what was called.
    const called = episodes.map(({ nodes }) =>
      nodes.flatMap(({ calls = [] }) => calls.map(({ name }) => name)),
    )
    expect(all.map((task) => task.context['tools'])).toEqual(called)
  }
  expect(places()).toEqual([])
})

test('a plan that is broken off half-way leaves a failed task', async () => {
  for (const kind of filesystemTasks.kinds) {
    for (let seed = 0; seed < 4; seed++) {
      const task = filesystemTasks.task({ split: 'train', seed, kind })
      for (let stop = 0; ; stop++) {
        const session = await environment.open(task, {})
        const results: { text: string; isError: boolean }[] = []
        let answer: string | undefined
        for (let step = 0; step < stop && answer === undefined; step++) {
          const move = task.plan(results)
          if ('answer' in move) answer = move.answer
          else results.push(await session.call(move.call.name, move.call.arguments))
        }
        const finished = 'answer' in task.plan(results)
        const judged = await session.judge({
          answer: answer ?? 'done',
          calls: results.length,
          invalidCalls: 0,
        })
        await session.close()
        if (task.answer.kind === 'any')
          expect(readScore(judged, task.id).value, `${task.prompt} ${stop}`).toBe(Number(finished))
        else expect(readScore(judged, task.id).value, task.prompt).toBe(Number(answer !== undefined))
        if (answer !== undefined || (finished && task.answer.kind === 'any')) break
      }
    }
  }
})

test('offers the tools of the server, except those whose results are not repeatable', () => {
  const names = environment.tools.map(({ name }) => name)
  expect(names).toContain('read_text_file')
  expect(names).toContain('search_files')
  expect(names).not.toContain('get_file_info')
  expect(names).not.toContain('list_allowed_directories')
  expect(environment.tools.every(({ inputSchema }) => inputSchema['type'] === 'object')).toBe(true)
})

test('a tool that is not offered cannot be called', async () => {
  const [session] = await openTwo()
  const result = await session.call('list_allowed_directories', {})
  expect(result).toEqual({ text: 'error: there is no tool list_allowed_directories', isError: true })
  await session.close()
})

test('no episode sees or touches the files of another, or anything outside', async () => {
  const [mine, other] = await openTwo()
  const [myPlace, otherPlace] = places().slice(-2)
  await other.call('write_file', { path: '/private.txt', content: 'not yours' })
  const otherName = otherPlace.slice(otherPlace.lastIndexOf('/') + 1)

  const search = await mine.call('search_files', { path: '/..', pattern: '**/private.txt' })
  expect(search.text).not.toContain(otherName)
  const tree = await mine.call('directory_tree', { path: '../..' })
  expect(tree.text).not.toMatch(/private|secret/)

  for (const path of [
    `../${otherName}/private.txt`,
    `/../${otherName}/private.txt`,
    `/notes/../../${otherName}/private.txt`,
    join(otherPlace, 'private.txt'),
    join(outside, 'secret.txt'),
    '/../../../secret.txt',
    '~/.profile',
    '/etc/passwd',
    '..\\..\\secret.txt',
  ]) {
    const read = await mine.call('read_text_file', { path })
    expect(read.isError, path).toBe(true)
    expect(read.text).not.toMatch(/not yours|secret$|root:/)
    expect(read.text, path).not.toContain(`${myPlace}/`)
    const several = await mine.call('read_multiple_files', { paths: [path] })
    expect(several.text).not.toMatch(/not yours|root:/)
    await mine.call('write_file', { path, content: 'overwritten' })
    await mine.call('move_file', { source: path, destination: '/stolen.txt' })
  }
  expect(readFileSync(join(otherPlace, 'private.txt'), 'utf8')).toBe('not yours')
  expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('secret')
  expect(readdirSync(outside).toSorted()).toEqual(['boxes', 'secret.txt'])
  await Promise.all([mine.close(), other.close()])
})

test('links out of the sandbox are refused, to files, to folders and to nowhere', async () => {
  const [mine, other] = await openTwo()
  const [myPlace, otherPlace] = places().slice(-2)
  writeFileSync(join(otherPlace, 'private.txt'), 'not yours')
  symlinkSync(join(otherPlace, 'private.txt'), join(myPlace, 'link.txt'))
  symlinkSync(otherPlace, join(myPlace, 'door'))
  symlinkSync(outside, join(myPlace, 'exit'))
  symlinkSync(join(otherPlace, 'fresh.txt'), join(myPlace, 'nowhere.txt'))

  for (const path of ['/link.txt', '/door/private.txt', '/exit/secret.txt']) {
    expect(await mine.call('read_text_file', { path })).toMatchObject({ isError: true })
  }
  for (const path of ['/link.txt', '/door/new.txt', '/exit/new.txt', '/nowhere.txt', '/door/a/b.txt']) {
    expect(await mine.call('write_file', { path, content: 'x' }), path).toMatchObject({ isError: true })
    expect(
      await mine
        .call('create_directory', { path: `${path}.d` })
        .then(() => existsSync(join(otherPlace, 'new.txt.d'))),
    ).toBe(false)
  }
  const found = await mine.call('search_files', { path: '/', pattern: '**/*.txt' })
  expect(found.text).not.toContain('private')
  expect(readFileSync(join(otherPlace, 'private.txt'), 'utf8')).toBe('not yours')
  expect(existsSync(join(otherPlace, 'fresh.txt'))).toBe(false)
  expect(existsSync(join(outside, 'new.txt'))).toBe(false)
  await Promise.all([mine.close(), other.close()])
})

test('results do not depend on where the sandbox is or on which server answers', async () => {
  const [task] = tasks('test', 1)
  const calls: [string, Record<string, unknown>][] = [
    ['create_directory', { path: 'fresh' }],
    ['write_file', { path: 'fresh/b.txt', content: 'x' }],
    ['write_file', { path: '/fresh/a.txt', content: 'red\nblue' }],
    ['edit_file', { path: '/fresh/a.txt', edits: [{ oldText: 'blue', newText: 'green' }] }],
    ['edit_file', { path: '/fresh/a.txt', edits: [{ oldText: 'pink', newText: 'green' }] }],
    ['list_directory', { path: '/fresh' }],
    ['directory_tree', { path: '/' }],
    ['search_files', { path: '/', pattern: '**/*.txt' }],
    ['read_text_file', { path: '/none.txt' }],
    ['read_text_file', { path: '/fresh' }],
    ['write_file', { path: '/none/a.txt', content: 'x' }],
    ['move_file', { source: '/fresh/a.txt', destination: '/fresh/b.txt' }],
    ['move_file', { source: '/', destination: '/fresh/b' }],
    ['write_file', { path: '/', content: 'x' }],
    ['read_text_file', { path: 7 }],
    ['read_text_file', { path: `/${'a'.repeat(300)}` }],
    ['read_text_file', { path: '/a\0b' }],
    ['search_files', { path: '/', pattern: '*'.repeat(5000) }],
  ]
  const transcripts: string[][] = []
  for (let i = 0; i < 2; i++) {
    const session = await environment.open(task, {})
    const texts: string[] = []
    for (const [name, args] of calls) texts.push((await session.call(name, args)).text)
    transcripts.push(texts)
    await session.close()
  }
  expect(transcripts[0]).toEqual(transcripts[1])
  expect(transcripts[0].join('\n')).not.toContain('agoge-')
  expect(transcripts[0][3]).toBe('-blue\n+green')
  expect(transcripts[0].slice(8).filter((text) => !text.startsWith('error: '))).toEqual([])
})

test('a server that dies masks the episodes it was serving, and the next ones get a new server', async () => {
  const own = await createFilesystemEnvironment({ servers: 1, sandboxRoot: join(outside, 'own') })
  try {
    const [task] = tasks('train', 1)
    const [pid] = own.serverPids
    const session = await own.open(task, {})
    process.kill(pid, 'SIGSTOP')
    const call = session.call('list_directory', { path: '/' })
    process.kill(pid, 'SIGKILL')
    await expect(call).rejects.toBeInstanceOf(InfrastructureError)
    await session.close()
    const next = await own.open(task, {})
    expect(await next.call('list_directory', { path: '/' })).toMatchObject({ isError: false })
    expect(own.serverPids).not.toContain(pid)
    await next.close()
  } finally {
    await own.close()
  }
  await expect(own.open(tasks('train', 1)[0], {})).rejects.toBeInstanceOf(InfrastructureError)
})

test('an aborted run leaves no sandbox behind', async () => {
  const stop = new AbortController()
  const all = tasks('train', 20)
  const actor = createExpertActor({ tasks: new Map(all.map((task) => [task.id, task])) })
  const own = await createFilesystemEnvironment({ servers: 1, sandboxRoot: join(outside, 'own') })
  const specs = all.map((task) => ({ id: task.id, group: task.id, task }))
  const episodes = await runEpisodes(specs, actor, own, limits, {
    signal: stop.signal,
    onTurn: () => stop.abort(),
  }).catch(() => [])
  for (const episode of episodes) if (episode.ending === 'aborted') expect(episode.status).toBe('masked')
  const [home] = readdirSync(join(outside, 'own'))
  expect(readdirSync(join(outside, 'own', home))).toEqual([])
  await own.close()
  expect(readdirSync(join(outside, 'own'))).toEqual([])
})

test('a folder for sandboxes that cannot be made is refused', async () => {
  mkdirSync(join(outside, 'own'), { recursive: true })
  writeFileSync(join(outside, 'own', 'file'), '')
  await expect(
    createFilesystemEnvironment({ sandboxRoot: join(outside, 'own', 'file', 'x') }),
  ).rejects.toThrow(/cannot be made/)
  rmSync(join(outside, 'own'), { recursive: true })
})
