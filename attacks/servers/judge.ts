// Whether an attack held: each promise that is checked is a function, and the first that is broken is what happened.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { longestAllowed } from '../attack.ts'
import type { Ended } from '../run-cli.ts'
import { leakOf } from './leaks.ts'
import type { ServerMode } from './modes.ts'
import { brokenFiles, type Place, serverName } from './prepare.ts'

export interface Attacked {
  mode: ServerMode
  place: Place
  ended: Ended
  limitSeconds: number
  /** Most memory of the command, in megabytes. */
  memory: number
  /** Processes and folders that were left. */
  remaining: readonly string[]
  /** Whether another address got a request with the key. */
  sentOn: boolean
}

/** Most memory that a hostile server may make the command take, in megabytes. It takes some 300 by itself. */
const mostMegabytes = 2000

/** The first promise that was not kept, as a sentence. Undefined: all were. */
export function brokenPromise(attacked: Attacked): string | undefined {
  for (const promise of promises) {
    const broken = promise(attacked)
    if (broken !== undefined) return broken
  }
  return undefined
}

type Promise_ = (attacked: Attacked) => string | undefined

const promises: readonly Promise_[] = [
  ({ ended, limitSeconds }) => (ended.overtime ? `it had not ended after ${limitSeconds} s` : undefined),
  ({ ended }) => (ended.signal === null ? undefined : `it ended by ${ended.signal}`),
  ({ ended }) => {
    const [line] =
      /^ +at .+:\d+:\d+.*$|^Node\.js v.*$|Maximum call stack/m.exec(ended.stdout + ended.stderr) ?? []
    return line === undefined ? undefined : `it ended with a stack trace: ${line.trim()}`
  },
  ({ ended }) => {
    const [found] = controls.exec(ended.stdout) ?? controls.exec(ended.stderr) ?? []
    return found === undefined ? undefined : `it printed the control character ${JSON.stringify(found)}`
  },
  ({ ended, place }) => {
    const way = leakOf(ended.stdout, place.secrets) ?? leakOf(ended.stderr, place.secrets)
    return way === undefined ? undefined : `it printed a secret ${way}`
  },
  ({ place }) => leakInFiles(place),
  ({ place }) => brokenFiles(place),
  ({ sentOn }) => (sentOn ? 'another address got the key' : undefined),
  ({ remaining }) => (remaining.length === 0 ? undefined : `it left ${remaining.slice(0, 3).join(', ')}`),
  unexpectedEnd,
  ({ mode, ended }) =>
    mode.says === undefined || mode.says.test(ended.stdout + ended.stderr)
      ? undefined
      : `it did not say ${mode.says.source}: ${lastWords(ended)}`,
  ({ memory }) => (memory < mostMegabytes ? undefined : `it took ${memory.toFixed(0)} MB of memory`),
  ({ ended: { longestSection = 0 } }) =>
    longestSection <= longestAllowed.elsewhere
      ? undefined
      : `it did not return to its event loop for ${longestSection.toFixed(0)} ms`,
]

/** What a terminal obeys, but for line breaks and tabs. */
// oxlint-disable-next-line no-control-regex -- these are what is looked for.
const controls = /[\0-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/

function leakInFiles({ folder, secrets }: Place): string | undefined {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name === '.mcp.json' || entry.parentPath.startsWith(join(folder, 'server')))
      continue
    const way = leakOf(entry.name + readFileSync(join(entry.parentPath, entry.name), 'utf8'), secrets)
    if (way !== undefined) return `${entry.name} has a secret ${way}`
  }
  return undefined
}

function unexpectedEnd({ mode, place, ended }: Attacked): string | undefined {
  const { code, stderr } = ended
  if (code === 0 && mode.ends !== 'refused') {
    const good = goodTasks(place)
    return good > 0 ? undefined : `the good tool has no tasks: ${lastWords(ended)}`
  }
  if (code !== 1 || mode.ends === 'tasks') return `it ended with ${code}: ${lastWords(ended)}`
  if (stderr.split('\n').filter((line) => line.startsWith('error: ')).length !== 1)
    return `it did not end with one error: ${lastWords(ended)}`
  const error = stderr.slice(stderr.indexOf('error: '))
  if (!error.includes(serverName)) return `its error does not name the server: ${lastWords(ended)}`
  return /^ +(?:hint|expected): /m.test(error)
    ? undefined
    : `its error does not say what to do: ${lastWords(ended)}`
}

interface StoredTask {
  reference?: readonly { name: string }[]
}

/** The stored tasks that only the good tool solves. */
function goodTasks({ folder }: Place): number {
  const file = join(folder, 'tasks.jsonl')
  if (!existsSync(file)) return 0
  const tasks = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as StoredTask)
  return tasks.filter(({ reference = [] }) => reference.some(({ name }) => good.has(name))).length
}

const good = new Set(['measure', 'add_note', 'list_notes'])

/** What happened in an attack that held: the error, or the tasks and the first tool that was left out. */
export function happened({ place, ended }: Attacked): string {
  if (ended.code !== 0) return short(lastWords(ended))
  const [, leftOut] = /^left out: (.*)$/m.exec(ended.stdout) ?? []
  const tasks = `${goodTasks(place)} tasks of the good tools`
  return leftOut === undefined ? tasks : `${tasks}; left out: ${short(leftOut)}`
}

function lastWords({ stdout, stderr }: Ended): string {
  const at = stderr.indexOf('error: ')
  const [line] = (at < 0 ? stderr.trim().split('\n').slice(-1).join('') : stderr.slice(at)).split('\n')
  return line === '' ? short(stdout.trim().split('\n').at(-1) ?? '') : short(line)
}

const longest = 200
const short = (text: string): string => (text.length > longest ? `${text.slice(0, longest)} ...` : text)
