// What an ended command has left: processes of its servers, and their folders. Linux only.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

/** How the processes of an attack are known: a value of their environment, and a word of their command line. */
export interface Mark {
  secret: string
  tag: string
}

interface Found {
  pid: number
  command: string
}

function processesOf({ secret, tag }: Mark): Found[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name): Found[] => {
      const [command, environment] = [readProcess(name, 'cmdline'), readProcess(name, 'environ')]
      if (!environment.includes(secret) && !command.includes(tag)) return []
      return isEnded(name) ? [] : [{ pid: Number(name), command: command.replaceAll('\0', ' ').trim() }]
    })
}

/** A process that has ended and waits for its parent to notice runs no more. */
const isEnded = (name: string): boolean => /\) [ZX] /.test(readProcess(name, 'stat'))

function readProcess(name: string, file: string): string {
  try {
    return readFileSync(`/proc/${name}/${file}`, 'latin1')
  } catch {
    return ''
  }
}

/** Milliseconds that processes which were killed have to end, on a busy machine. */
const endWithin = 8000

/** The processes that are still there after a while, as command lines. Kills them. */
export async function remainingProcesses(mark: Mark): Promise<string[]> {
  const until = performance.now() + endWithin
  let found = processesOf(mark)
  while (found.length > 0 && performance.now() < until) {
    await wait(100)
    found = processesOf(mark)
  }
  const remaining = found.map(({ command }) => command)
  // One that starts itself anew takes several looks.
  for (let look = 0; look < 1000 && found.length > 0; look++) {
    for (const { pid } of found) kill(pid)
    await wait(5)
    found = processesOf(mark)
  }
  return remaining
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}

/**
 * Temporary folders of a process that has ended. Removes them. One that a server has renamed is not known to Agoge, and is not
 * returned.
 */
export function remainingFolders(pid: number, temporary = tmpdir()): string[] {
  const found = [...new Set(['/dev/shm', temporary])].filter(existsSync).flatMap((parent) =>
    readdirSync(parent)
      .filter((name) => name.startsWith('agoge-') && name.includes(`-${pid}-`))
      .map((name) => join(parent, name)),
  )
  // Unlike Node, rm removes folders that are deeper than the longest path.
  for (const path of found) execFileSync('rm', ['-rf', '--', path])
  return found.filter((path) => !path.endsWith('-away'))
}

/** Most memory that a running process has had, in megabytes. */
export function mostMemory(pid: number): number {
  const [, kilobytes = '0'] = /VmHWM:\s+(\d+)/.exec(readProcess(String(pid), 'status')) ?? []
  return Number(kilobytes) / 1000
}
