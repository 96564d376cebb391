import { expect, test } from 'vitest'
import type { ServerRow } from './row.ts'
import { benchServers } from './servers.ts'
import { type MeasuredServer, barsText } from './bars.ts'

const estimate = (mean: number, low = mean, high = mean) => ({ mean, low, high, n: 400 })

/** A server of the table with three seeds. `usable` of its tools. */
function measured(name: string, usable: number, warmStart: number, gain: number[]): MeasuredServer {
  const server = benchServers.find((other) => other.name === name)
  if (server === undefined) throw new Error(`no server ${name}`)
  const row: ServerRow = {
    schema: 1,
    server: name,
    package: server.package,
    seed: 0,
    date: '2026-11-27',
    command: '',
    machine: { cpu: 'x', cores: 2, node: 'v20' },
    minutes: 12.3,
    limitMinutes: 15,
    stopped: false,
    tools: {
      all: server.tools,
      usable: Array.from({ length: usable }, (_, tool) => `t${tool}`),
      leftOut: [],
    },
    tasks: 300,
    expert: 1,
    cheating: null,
    base: null,
    warmStart: estimate(warmStart),
    rl: null,
    gain: estimate(gain[0], gain[1], gain[2]),
    masked: 0,
    remarks: [],
    error: null,
  }
  return { server, rows: [row, { ...row, seed: 1 }, { ...row, seed: 2, minutes: 14.2 }] }
}

test('a server has enough with 60% of its tools, and learns with a clear gain or a good warm start', () => {
  const few = measured('postgres', 10, 0.8, [0.01, -0.05, 0.07])
  const good = measured('memory', 9, 0.93, [-0.01, -0.03, 0.02])
  const gained = measured('tasks', 9, 0.8, [0.06, 0.03, 0.09])
  expect(barsText([few, good, gained])).toBe(
    'Of 3 servers, 2 have at least 60% of their tools usable and 300 tasks (eight were asked for). 2 are above 92% after the warm start, or gain by RL with an interval clear of zero (seven were asked for). RL is below the warm start on `memory` (-1.0 points, not clear of chance). The longest run took 14.2 minutes (15 were allowed). Each has at least three seeds.',
  )
  const worse = measured('time', 5, 0.95, [-0.05, -0.06, -0.04])
  const text = barsText([{ ...worse, rows: worse.rows.slice(1) }, measured('thinking', 1, 0.1, [0, 0, 0])])
  expect(text).toMatch(/^Of 1 servers, 1 have /)
  expect(text).toContain('`time` (-5.0 points, clear of chance)')
  expect(text).toContain('Fewer than three seeds have `time` (2).')
})
