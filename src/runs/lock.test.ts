import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { trainJob } from '../llm/training/loop.ts'
import { boxJob } from '../llm/training/testing/box-job.ts'
import { host, lockRun, makeLockedFolder } from './lock.ts'
import { openRunFolder } from './run-folder.ts'

function folderOf(): string {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-occupied-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('a run that another process is writing to is refused, one whose process was killed is not', async () => {
  const path = folderOf()
  const file = join(path, 'running.json')
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  const ended = new Promise((resolve) => other.once('exit', resolve))
  writeFileSync(file, `${JSON.stringify({ pid: other.pid, host })}\n`)
  await expect(trainJob(boxJob(path))).rejects.toMatchObject({
    code: 'run-in-use',
    hint: expect.stringContaining(`kill ${other.pid}`),
  })
  expect(existsSync(join(path, 'config.json'))).toBe(false)
  expect(existsSync(file)).toBe(true)
  other.kill('SIGKILL')
  await ended
  lockRun(openRunFolder({ path }))()
  expect(existsSync(file)).toBe(false)
})

test('another machine, this very process and a torn file keep nobody out', () => {
  const path = folderOf()
  const file = join(path, 'running.json')
  for (const text of [
    JSON.stringify({ pid: 1, host: 'elsewhere' }),
    JSON.stringify({ pid: process.pid, host }),
    '{"pi',
  ]) {
    writeFileSync(file, text)
    lockRun(openRunFolder({ path }))()
    expect(existsSync(file)).toBe(false)
  }
})

test('a training that fails lets go of its folder', async () => {
  const path = folderOf()
  await expect(trainJob({ ...boxJob(path), resume: true })).rejects.toThrow(/no run to resume/)
  expect(existsSync(join(path, 'running.json'))).toBe(false)
})

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-owned-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A process that makes such a folder, prints its path, and keeps running. */
async function owner(parent: string): Promise<{ folder: string; kill: () => Promise<void> }> {
  const module = fileURLToPath(new URL('lock.ts', import.meta.url))
  const code = `const { makeLockedFolder } = await import(${JSON.stringify(module)})
    console.log(makeLockedFolder(${JSON.stringify(parent)}, 'box')); setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const said = await new Promise<string>((resolve) =>
    child.stdout.once('data', (data: Buffer) => resolve(data.toString().trim())),
  )
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  return { folder: said, kill }
}

test('folders of processes that were killed are swept away; those of the living, and others, stay', async () => {
  const parent = temporary()
  const [dead, living] = [await owner(parent), await owner(parent)]
  writeFileSync(join(dead.folder, 'left.txt'), 'x')
  // Not of this machine, not of this prefix, and without a process id.
  const strangers = ['box-elsewhere-1-abcdef', 'other', 'box-abcdef', `${basename(dead.folder)}.txt`]
  for (const name of strangers) mkdirSync(join(parent, name))
  await dead.kill()
  expect(existsSync(dead.folder)).toBe(true)
  const own = makeLockedFolder(parent, 'box')
  expect(readdirSync(parent).toSorted()).toEqual(
    [...strangers, basename(living.folder), basename(own)].toSorted(),
  )
  expect(basename(own)).toContain(`-${process.pid}-`)
})
