// npm run servers -- NAME... [--seeds 2-4] [--minutes 15]   measures servers of the table; stored seeds are skipped
// npm run servers -- NAME... --try [--count 300]            makes tasks, measures them and stores no row
// npm run servers -- NAME... --audit                        attacks the judge of its tasks; stored audits are skipped
// npm run servers -- NAME... --first                        measures how soon the first ten tasks are shown
// npm run servers -- --list                                 the servers and their stored seeds
// npm run servers                                           writes the table of docs/results/servers.md from the stored rows
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { auditServer, hasAudit, readAudits } from './audit.ts'
import { readFirstTasks, timeFirstTasks } from './first-tasks.ts'
import { measureServer, tryServer } from './measure.ts'
import { withRows } from './page.ts'
import { hasRow, readRows, seedsOf, writeRow } from './row.ts'
import { benchServers, findBenchServer } from './servers.ts'

const page = fileURLToPath(new URL('../../docs/results/servers.md', import.meta.url))

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: 'string', default: '2-4' },
    minutes: { type: 'string', default: '15' },
    try: { type: 'boolean', default: false },
    audit: { type: 'boolean', default: false },
    first: { type: 'boolean', default: false },
    count: { type: 'string', default: '300' },
    list: { type: 'boolean', default: false },
  },
})
const minutes = Number(values.minutes)
const unknown = positionals.filter((name) => findBenchServer(name) === undefined)
if (unknown.length > 0 || !(minutes > 0)) {
  const known = benchServers.map(({ name }) => name).join(', ')
  console.error(
    unknown.length > 0 ? `no server ${unknown.join(', ')}; there are ${known}` : '--minutes: above 0',
  )
  process.exit(1)
}

if (values.list) {
  const rows = readRows()
  for (const { name, kind, package: pinned, tools, reserve } of benchServers) {
    const seeds = rows.filter((row) => row.server === name).map((row) => row.seed)
    const stored = seeds.length === 0 ? 'not measured' : `seeds ${seeds.join(', ')}`
    console.log(
      `${name.padEnd(11)} ${kind.padEnd(20)} ${pinned.padEnd(60)} ${tools} tools, ${stored}${reserve ? ' (reserve)' : ''}`,
    )
  }
} else {
  for (const name of positionals) {
    const server = findBenchServer(name)
    if (server === undefined) continue
    if (values.audit) {
      if (hasAudit(name)) console.error(`${name}: audited already`)
      else await auditServer(server, minutes)
      continue
    }
    if (values.first) {
      await timeFirstTasks(server)
      continue
    }
    for (const seed of seedsOf(values.seeds)) {
      if (values.try) {
        await tryServer(server, { seed, limitMinutes: minutes, count: Number(values.count) })
        break
      }
      if (hasRow(name, seed)) console.error(`${name}, seed ${seed}: stored already`)
      else writeRow(await measureServer(server, seed, minutes))
    }
  }
  if (!values.try)
    writeFileSync(
      page,
      withRows(
        readFileSync(page, 'utf8'),
        { rows: readRows(), audits: readAudits(), firstTasks: readFirstTasks() },
        benchServers,
      ),
    )
}
