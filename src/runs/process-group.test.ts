import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { hideMarks, newMark } from './process-watchdog.ts'
import { endGroup, spawnGroup } from './process-group.ts'

/** Starts a sleeper in a group of its own, as a browser is started, prints its id and stays. */
const withGroup = `
const { spawn } = require('node:child_process')
const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
console.log(child.pid)
setInterval(() => {}, 1000)`

/** The same through a parent that has ended when the id is printed, as daemons start. */
const withOrphan = `
const { spawn } = require('node:child_process')
const parent = "const child = require('node:child_process').spawn('sleep', ['60'], { detached: true, stdio: 'ignore' }); console.log(child.pid); child.unref()"
const child = spawn(process.execPath, ['-e', parent], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
let text = ''
child.stdout.on('data', (data) => (text += data))
child.once('close', () => console.log(text))
process.stdin.on('data', () => process.exit(1))
setInterval(() => {}, 1000)`

/** Stays whatever is asked of it, until it is killed. */
const deaf = `
process.on('SIGTERM', () => {})
console.log(process.pid)
setInterval(() => {}, 1000)`

const env = { PATH: process.env['PATH'] ?? '' }

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function printed(child: ChildProcess): Promise<number[]> {
  const text = await new Promise<Buffer>((resolve) => child.stdout?.once('data', resolve))
  const pids = text.toString().trim().split(' ').map(Number)
  expect(pids.every((pid) => isAlive(pid))).toBe(true)
  return pids
}

/** Waits for the end: another process collects what is left of an orphan, and a watchdog needs a moment. */
async function expectEnded(pids: readonly number[]): Promise<void> {
  for (let tries = 0; pids.some(isAlive) && tries < 250; tries++) await wait(20)
  expect(pids.filter(isAlive)).toEqual([])
}

const onLinux = test.skipIf(process.platform !== 'linux')

onLinux.each([
  ['in a group of its own', withGroup],
  ['in a group of its own by a parent that has ended', withOrphan],
])('what a process started %s ends with it', async (_, program) => {
  const child = spawnGroup(process.execPath, ['-e', program], { env })
  const pids = await printed(child)
  await endGroup(child)
  await expectEnded(pids)
})

onLinux('what a process started ends also when it ends by itself', async () => {
  const child = spawnGroup(process.execPath, ['-e', withOrphan], { env })
  const pids = await printed(child)
  child.stdin.write('end')
  await expectEnded(pids)
})

onLinux('nothing survives that this process is killed', async () => {
  const source = fileURLToPath(new URL('process-group.ts', import.meta.url))
  const killed = `
import { spawnGroup } from ${JSON.stringify(source)}
const pids = []
for (const program of ${JSON.stringify([deaf, withOrphan])})
  spawnGroup(process.execPath, ['-e', program], { env: { PATH: process.env.PATH } }).stdout.once('data', (data) => {
    pids.push(Number(data))
    if (pids.length === 2) console.log(pids.join(' '))
  })`
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', killed], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const pids = await printed(child)
  child.kill('SIGKILL')
  await expectEnded(pids)
})

test('a tool that shows its environment shows the same in each process', () => {
  const [one, other] = [newMark(), newMark()]
  expect(one).not.toBe(other)
  expect(hideMarks(`A=${one}\nB=b`)).toBe(hideMarks(`A=${other}\nB=b`))
})
