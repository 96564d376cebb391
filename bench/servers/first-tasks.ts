// How soon `agoge tasks` shows the first ten tasks of a server, in several starts. Stored in docs/results/servers/first-tasks/NAME.json.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { quantile } from 'agoge/statistics'
import { runCli, sandboxed, thisMachine } from './measure.ts'
import { prepareFolder } from './prepare.ts'
import type { ServerRow } from './row.ts'
import type { BenchServer } from './servers.ts'

export interface FirstTasks {
  schema: 2
  server: string
  date: string
  command: string
  machine: ServerRow['machine']
  /** From each start of the command until the tenth task was shown. Null: it was not shown in time. */
  seconds: readonly (number | null)[]
}

const folder = fileURLToPath(new URL('../../docs/results/servers/first-tasks', import.meta.url))
const limitMinutes = 2
/** Starts of the command. The machines are shared, so that one may take half as long again as the next. */
const starts = 5

/** All stored times. */
export function readFirstTasks(): FirstTasks[] {
  if (!existsSync(folder)) return []
  const files = readdirSync(folder).toSorted()
  return files.map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as FirstTasks)
}

/** Starts `agoge tasks` several times, ends it when the tenth task is shown, and stores how long that took. */
export async function timeFirstTasks(server: BenchServer): Promise<void> {
  const options = ['tasks', ...sandboxed(server)]
  const isEnough = (stdout: string): boolean => /^10\. /m.test(stdout)
  const seconds: (number | null)[] = []
  while (seconds.length < starts) {
    const { stdout, minutes } = await runCli(options, prepareFolder(server, 0), limitMinutes, isEnough)
    seconds.push(isEnough(stdout) ? Number((minutes * 60).toFixed(1)) : null)
  }
  const row: FirstTasks = {
    schema: 2,
    server: server.name,
    date: new Date().toISOString().slice(0, 10),
    command: ['agoge', ...options].join(' '),
    machine: thisMachine(),
    seconds,
  }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${server.name}.json`), `${JSON.stringify(row, null, 1)}\n`)
}

/** Seconds that were asked for. */
const bar = 15

/** The times of all servers in a sentence, with the machines they were measured on. Empty if none is stored. */
export function firstTasksText(times: readonly FirstTasks[], machines: string): string {
  if (times.length === 0) return ''
  const sorted = times.map(({ server, seconds }) => ({
    server,
    seconds: seconds.map((one) => one ?? limitMinutes * 60).toSorted((a, b) => a - b),
  }))
  const inTime = sorted.filter(({ seconds }) => quantile(seconds, 0.5) <= bar)
  const shown = (one: number): string =>
    one < limitMinutes * 60 ? String(one) : `not in ${limitMinutes * 60}`
  const each = sorted.map(({ server, seconds }) => {
    const [shortest, median, longest] = [0, 0.5, 1].map((share) => shown(quantile(seconds, share)))
    return `${server} ${median} (${shortest} to ${longest})`
  })
  return `\`agoge tasks\` showed the first ten tasks within ${bar} seconds of its start on ${inTime.length} of ${times.length} servers (${machines}; the median of ${starts} starts in seconds, with the shortest and the longest: ${each.join(', ')}).`
}
