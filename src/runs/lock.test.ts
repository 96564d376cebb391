import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { host } from './locked-folder.ts'
import { trainJob } from '../llm/training/loop.ts'
import { lockRun } from './lock.ts'
import { openRunFolder } from './run-folder.ts'
import { boxJob } from '../llm/training/testing/box-job.ts'

function folderOf(): string {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-occupied-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('a run that another process works on is refused and left as it is; one whose process was killed is not', async () => {
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
