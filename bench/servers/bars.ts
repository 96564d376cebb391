// Whether the rows meet what was asked of the table, in sentences.
import { average } from 'agoge/statistics'
import { meanGain } from './gain.ts'
import type { ServerRow } from './row.ts'
import type { BenchServer } from './servers.ts'

/** What was asked of a server before any of them was measured. */
const bars = { tools: 0.6, tasks: 300, warmStart: 0.92, seeds: 3 }

/** A server of the table with its rows. */
export interface MeasuredServer {
  server: BenchServer
  rows: readonly ServerRow[]
}

/** How many servers meet the bars, and which of them have too few seeds yet. */
export function barsText(measured: readonly MeasuredServer[]): string {
  const counted = measured.filter(({ server }) => server.replaced === undefined)
  const gains = counted.flatMap(({ server, rows }) => {
    const known = rows.flatMap(({ gain }) => (gain === null ? [] : [gain]))
    return known.length === 0 ? [] : [{ name: server.name, gain: meanGain(known), rows }]
  })
  const above = gains.filter(
    ({ gain, rows }) =>
      average(rows.map((row) => row.warmStart?.mean ?? 0)) > bars.warmStart ||
      (!('noInterval' in gain) && gain.low > 0),
  )
  const lower = gains.filter(({ gain }) => gain.mean < 0)
  const few = counted.filter(({ rows }) => rows.length < bars.seeds)
  const minutes = Math.max(...counted.flatMap(({ rows }) => rows.map((row) => row.minutes)))
  return [
    `Of ${counted.length} servers, ${counted.filter(hasEnough).length} have at least 60% of their tools usable and 300 tasks (eight were asked for).`,
    `${above.length} are above 92% after the warm start, or gain by RL with an interval clear of zero (seven were asked for).`,
    lower.length === 0
      ? 'RL is below the warm start on none.'
      : `RL is below the warm start on ${lower.map(({ name, gain }) => `\`${name}\` (${lossOf(gain)})`).join(' and ')}.`,
    `The longest run took ${minutes.toFixed(1)} minutes (15 were allowed).`,
    few.length === 0
      ? 'Each has at least three seeds.'
      : `Fewer than three seeds have ${few.map(({ server, rows }) => `\`${server.name}\` (${rows.length})`).join(', ')}.`,
  ].join(' ')
}

function hasEnough({ server, rows }: MeasuredServer): boolean {
  const counted = server.tools - (server.needInternet ?? []).length
  return rows.every(
    ({ tools, tasks }) => tools.usable.length / counted >= bars.tools && (tasks ?? 0) >= bars.tasks,
  )
}

function lossOf(gain: ReturnType<typeof meanGain>): string {
  const clear = !('noInterval' in gain) && gain.high < 0
  return `${(100 * gain.mean).toFixed(1)} points, ${clear ? 'clear of chance' : 'not clear of chance'}`
}
