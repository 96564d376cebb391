// The table of docs/results/servers.md, from the stored rows.
import { intervalText, type MeanEstimate } from 'agoge/statistics'
import type { CheatingRates } from './printed.ts'
import type { AuditRow } from './audit.ts'
import { type FirstTasks, firstTasksText } from './first-tasks.ts'
import { meanGain } from './gain.ts'
import type { ServerRow } from './row.ts'
import type { BenchServer } from './servers.ts'
import { barsText } from './bars.ts'

const [opening, closing] = ['<!-- rows: npm run servers -->', '<!-- end of rows -->']

interface StoredResults {
  rows: readonly ServerRow[]
  audits: readonly AuditRow[]
  firstTasks: readonly FirstTasks[]
}

/** The page with the rows between its markers. */
export function withRows(page: string, results: StoredResults, servers: readonly BenchServer[]): string {
  const [from, to] = [page.indexOf(opening), page.indexOf(closing)]
  if (from < 0 || to < from) throw new Error(`the page has no line "${opening}" followed by "${closing}"`)
  return `${page.slice(0, from)}${opening}\n\n${rowsText(results, servers)}\n\n${page.slice(to)}`
}

/** The table, and below it which servers were replaced, and the tools that were left out, with the reasons. */
export function rowsText(
  { rows, audits, firstTasks }: StoredResults,
  servers: readonly BenchServer[],
): string {
  const measured = servers
    .map((server) => ({ server, rows: rows.filter((row) => row.server === server.name) }))
    .filter((entry) => entry.rows.length > 0)
  const replaced = servers.flatMap(({ name, replaced: other }) =>
    other === undefined ? [] : [`${other.by} stands in for ${name}: ${other.why}.`],
  )
  if (measured.length === 0) return ['Nothing is measured yet.', ...replaced].join('\n\n')
  const header = ['server', 'tools usable', 'tasks', 'expert', 'cheating agents', 'attacks', 'base']
  const table = [
    [...header, 'warm start', 'RL', 'RL minus warm start', 'new sentences', 'new words', 'minutes'],
    [...header, '', '', '', '', '', ''].map(() => '---'),
    ...measured.map(({ server, rows: own }) =>
      cells(
        server,
        own,
        audits.find((audit) => audit.server === server.name),
      ),
    ),
  ].map((line) => `| ${line.join(' | ')} |`)
  const requests = measured.flatMap(({ server, rows: own }) => {
    const some = own.flatMap((row) => row.requests ?? []).map((text) => `  - ${escaped(text)}`)
    return some.length === 0 ? [] : [`- ${server.name}`, ...some]
  })
  const notes = measured.flatMap(({ server, rows: own }) => notesOf(server, own))
  return [
    barsText(measured),
    '',
    ...table,
    '',
    'Tools that need the internet are not counted. Tasks, expert and cheating agents are those of `agoge tasks --count 300`; the highest rate of the cheating agents is shown. Attacks: the highest rate at which an attack of `agoge audit --tasks 100` was rewarded with the task undone. Success on held-out tasks, the mean of the seeds. New sentences and new words: success after RL on 96 further tasks, worded as no request of training; half of them have verbs and nouns that training never uses, too. Differences are paired by task. Their 95% intervals are of the mean of the seeds that were measured: they cover the choice of tasks, not that of seeds.',
    '',
    `Minutes are of \`agoge train\` on ${machines(rows)}, from the first call that finds out what the tools do to the report; in brackets the steps of RL, which \`--time-limit\` makes fewer where they would take too long.`,
    ...[firstTasksText(firstTasks, machines(firstTasks)), ...replaced]
      .filter(Boolean)
      .flatMap((sentence) => ['', sentence]),
    ...(requests.length === 0
      ? []
      : ['', '### Three requests of each seed, drawn at random', '', ...requests]),
    ...(notes.length === 0 ? [] : ['', '### What did not work', '', ...notes]),
  ].join('\n')
}

function cells(server: BenchServer, rows: readonly ServerRow[], audit: AuditRow | undefined): string[] {
  const mean = (of: (row: ServerRow) => number | null | undefined): string => {
    const values = rows.map(of).filter((value) => typeof value === 'number')
    if (values.length === 0) return '–'
    return percent(values.reduce((sum, value) => sum + value, 0) / values.length)
  }
  const least = (values: readonly (number | null)[]): string => {
    const known = values.filter((value) => value !== null)
    return known.length === 0 ? '–' : String(Math.min(...known))
  }
  const cheating = rows.flatMap((row) => (row.cheating === null ? [] : [highest(row.cheating)]))
  const gains = rows.flatMap((row) => (row.gain === null ? [] : [row.gain]))
  return [
    server.reserve ? `${server.name} (reserve)` : server.name,
    `${least(rows.map((row) => row.tools.usable.length))} of ${server.tools - (server.needInternet ?? []).length}`,
    least(rows.map((row) => row.tasks)),
    mean((row) => row.expert),
    cheating.length === 0 ? '–' : percent(Math.max(...cheating)),
    audit === undefined ? '–' : percent(audit.highest.share),
    mean((row) => row.base?.mean),
    mean((row) => row.warmStart?.mean),
    mean((row) => row.rl?.mean),
    gains.length === 0
      ? '–'
      : `${points(meanGain(gains))}${gains.length === 1 ? '' : `; by seed ${gains.map(({ mean: gain }) => signed(gain)).join(', ')}`}`,
    mean((row) => row.paraphrases?.['new sentences']?.mean),
    mean((row) => row.paraphrases?.['new words']?.mean),
    rows.map(minutesOf).join('; '),
  ]
}

function minutesOf({ minutes, rlSteps, stopped }: ServerRow): string {
  const notes = [...(rlSteps === undefined ? [] : [`${rlSteps} steps`]), ...(stopped ? ['stopped'] : [])]
  return `${minutes.toFixed(1)}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`
}

/** The machines that something was measured on. */
function machines(measured: readonly Pick<ServerRow, 'machine'>[]): string {
  const names = measured.map(({ machine: { cores, cpu, node } }) => `${cores} cores (${cpu}, Node ${node})`)
  return [...new Set(names)].join(' or ')
}

const highest = (rates: CheatingRates): number =>
  Math.max(rates.doNothing, rates.alwaysRefuse, rates.anyStringSeen, rates.everyToolOnce)

/** One decimal below ten, where it says something. */
const percent = (share: number): string => `${Number((100 * share).toFixed(share < 0.1 ? 1 : 0))}%`

/** A paired difference in percentage points with its interval: `+3.1 (0.4 to 5.8)`. */
function points(gain: MeanEstimate): string {
  const interval = intervalText(gain, (share) => (100 * share).toFixed(1))
  return `${signed(gain.mean)} (${interval})`
}

const signed = (share: number): string => `${share >= 0 ? '+' : ''}${(100 * share).toFixed(1)}`

/** One item for each server: errors, then tools with the same reason in one line. */
function notesOf(server: BenchServer, rows: readonly ServerRow[]): string[] {
  const errors = rows.flatMap((row) =>
    row.error === null ? [] : [`seed ${row.seed} ended with an error: ${row.error}`],
  )
  const byReason = new Map<string, Set<string>>()
  for (const { name, reason } of rows.flatMap((row) => row.tools.leftOut)) {
    const tools = byReason.get(reason) ?? new Set<string>()
    byReason.set(reason, tools.add(`\`${name}\``))
  }
  const reasons = [...byReason].map(([reason, tools]) => `${[...tools].join(', ')}: ${escaped(reason)}`)
  const lines = [...errors.map(escaped), ...reasons]
  return lines.length === 0 ? [] : [`- ${server.name}`, ...lines.map((line) => `  - ${line}`)]
}

/** Reasons quote servers: nothing of them may become Markdown or HTML. */
const escaped = (text: string): string =>
  text.replace(/[\\*_[\]<>|#]/g, (character) => `\\${character}`).replaceAll('\n', ' ')
