import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'

/** The variable that all descendants of a started process inherit, also those whose parent has ended. */
export const markVariable = 'AGOGE_STARTED_BY'

/** The marks of this process begin with it. */
const owner = `agoge-group-${randomUUID()}-`
const anyMark = new RegExp(`${owner}\\d+`, 'g')
let marks = 0

/** A value of `markVariable` that no other process group has. */
export function newMark(): string {
  return `${owner}${++marks}`
}

/** The text of a started process without marks: a tool that shows its environment shall show the same in each process. */
export function hideMarks(text: string): string {
  return text.replaceAll(anyMark, 'agoge-group')
}

/**
 * A shell reads the groups that run, and kills them and everything marked when this process ends in whatever way: then its
 * input ends. A signal to this process's group does not reach it.
 */
const program = `
trap '' HUP INT TERM
groups=
while read -r change group; do
  rest=
  for other in $groups; do [ "$other" = "$group" ] || rest="$rest $other"; done
  groups=$rest
  [ "$change" = + ] && groups="$groups $group"
done
for group in $groups; do kill -KILL -- "-$group"; done
for file in $(grep -lF "$1" /proc/[0-9]*/environ); do
  process=\${file#/proc/}
  kill -KILL "\${process%/environ}"
done`

let watchdog: ChildProcess | undefined

/** The watchdog, which is started when it is first needed. It does not keep this process running. */
function running(): ChildProcess {
  if (watchdog !== undefined) return watchdog
  const child = spawn('sh', ['-c', program, 'agoge-watchdog', `${markVariable}=${owner}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
  })
  // Without a shell only kill -9 leaves processes behind.
  child.once('error', () => {})
  child.stdin.on('error', () => {})
  child.unref()
  ;(child.stdin as Socket).unref()
  return (watchdog = child)
}

/** Lets the watchdog kill a process group should this process be killed. Does nothing on Windows. */
export function watchGroup(group: number): void {
  tell('+', group)
}

/** For a group that has ended: its number may be given to another. */
export function unwatchGroup(group: number): void {
  tell('-', group)
}

function tell(change: '+' | '-', group: number): void {
  if (process.platform === 'win32') return
  running().stdin?.write(`${change} ${group}\n`)
}
