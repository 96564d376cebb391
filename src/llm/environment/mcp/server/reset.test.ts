import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { InfrastructureError } from '../../../tool/tool.ts'
import { describeFiles, readFiles, runResetCommand, writeFiles } from './reset.ts'

test('a snapshot taken in one place is put back exactly, there or elsewhere', () => {
  const base = mkdtempSync(join(tmpdir(), 'agoge-test-'))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const places = ['one', 'two'].map((name) => [join(base, name, 'state'), join(base, name, 'log.txt')])
  mkdirSync(join(places[0][0], 'deep'), { recursive: true })
  writeFileSync(join(places[0][0], 'deep', 'a.bin'), Buffer.from([0, 255, 10]))
  const taken = readFiles(places[0])
  mkdirSync(places[1][0], { recursive: true })
  writeFileSync(join(places[1][0], 'stray'), 'x')
  writeFileSync(places[1][1], 'x')
  writeFiles(places[1], taken)
  expect([...readFileSync(join(places[1][0], 'deep', 'a.bin'))]).toEqual([0, 255, 10])
  expect(existsSync(join(places[1][0], 'stray'))).toBe(false)
  expect(existsSync(places[1][1])).toBe(false)
  expect(describeFiles(readFiles(places[1]))).toBe(describeFiles(taken))
  writeFileSync(join(places[0][0], 'deep', 'a.bin'), 'changed')
  expect(describeFiles(readFiles(places[0]))).not.toBe(describeFiles(taken))
})

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test.skipIf(process.platform === 'win32')('it knows its server, and says why it failed', async () => {
  const folder = temporary()
  await runResetCommand('echo fresh > "$AGOGE_SLOT/state"', folder)
  expect(readFileSync(join(folder, 'state'), 'utf8')).toBe('fresh\n')
  const failing = runResetCommand('echo "no such table" >&2; exit 3', folder)
  await expect(failing).rejects.toThrow('the reset command ended with 3: no such table')
  await expect(failing).rejects.toBeInstanceOf(InfrastructureError)
})

test.skipIf(process.platform === 'win32')('one that hangs is ended, with all it started', async () => {
  const folder = temporary()
  const hanging = (): string => `sleep 600 & echo $! > "$AGOGE_SLOT/pid"; wait`
  await expect(runResetCommand(hanging(), folder, { seconds: 0.5 })).rejects.toThrow('longer than 0.5 s')
  const first = Number(readFileSync(join(folder, 'pid'), 'utf8'))
  await expect.poll(() => isAlive(first), { timeout: 120_000 }).toBe(false)

  rmSync(join(folder, 'pid'))
  const stop = new AbortController()
  const stopped = runResetCommand(hanging(), folder, { signal: stop.signal })
  await expect
    .poll(() => existsSync(join(folder, 'pid')) && readFileSync(join(folder, 'pid'), 'utf8'))
    .toMatch(/\d/)
  stop.abort(new Error('enough'))
  await expect(stopped).rejects.toThrow('enough')
  const second = Number(readFileSync(join(folder, 'pid'), 'utf8'))
  await expect.poll(() => isAlive(second), { timeout: 120_000 }).toBe(false)
})

test.skipIf(process.platform === 'win32')('a service that it leaves behind is not waited for', async () => {
  const folder = temporary()
  await runResetCommand('sleep 20 & echo $! > "$AGOGE_SLOT/pid"', folder, { seconds: 10 })
  const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'))
  expect(isAlive(pid)).toBe(true)
  process.kill(pid)
})
