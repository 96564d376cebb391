import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { endGroup, spawnGroup } from './process-group.ts'

/** Starts a sleeper in a group of its own, as a browser is started, prints its id and stays. */
const program = `
const { spawn } = require('node:child_process')
const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
console.log(child.pid)
setInterval(() => {}, 1000)`

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test.skipIf(process.platform !== 'linux')(
  'what a process started in a group of its own ends with it',
  async () => {
    const child = spawnGroup(process.execPath, ['-e', program], { env: { PATH: process.env['PATH'] ?? '' } })
    const text = await new Promise<Buffer>((resolve) => child.stdout.once('data', resolve))
    const pid = Number(text.toString())
    expect(isAlive(pid)).toBe(true)
    await endGroup(child)
    // Another process collects what is left of it.
    for (let tries = 0; isAlive(pid) && tries < 100; tries++) await wait(20)
    expect(isAlive(pid)).toBe(false)
  },
)
