// What `agoge audit` finds on a server of the table. Stored in docs/results/servers/audits/NAME.json.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AuditReport } from 'agoge'
import { runCli, sandboxed } from './measure.ts'
import { prepareFolder } from './prepare.ts'
import type { BenchServer } from './servers.ts'

export interface AuditRow {
  schema: 1
  server: string
  package: string
  date: string
  command: string
  minutes: number
  /** Held-out tasks that each attack was measured on. */
  tasks: number
  attacks: number
  /** The attack that was rewarded most often with the task undone, and the share of its episodes. */
  highest: { attack: string; share: number }
  /** Attacks that the audit calls findings. */
  findings: string[]
}

const folder = fileURLToPath(new URL('../../docs/results/servers/audits', import.meta.url))
const fileOf = (server: string): string => join(folder, `${server}.json`)

export function hasAudit(server: string): boolean {
  return existsSync(fileOf(server))
}

/** All stored audits, by server. */
export function readAudits(): AuditRow[] {
  if (!existsSync(folder)) return []
  const files = readdirSync(folder).toSorted()
  return files.map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as AuditRow)
}

/** Audits a server with `agoge audit`, for at most `limitMinutes`, and stores what it found. */
export async function auditServer(server: BenchServer, limitMinutes: number): Promise<void> {
  const place = prepareFolder(server, 0)
  const options = ['audit', ...sandboxed(server), '--tasks', '100']
  const { minutes } = await runCli([...options, '--json', 'audit.json'], place, limitMinutes)
  const file = join(place, 'audit.json')
  if (!existsSync(file)) throw new Error(`${server.name}: the audit ended without a report`)
  const report = JSON.parse(readFileSync(file, 'utf8')) as AuditReport
  mkdirSync(folder, { recursive: true })
  writeFileSync(fileOf(server.name), `${JSON.stringify(rowOf(server, report, options, minutes), null, 1)}\n`)
}

export function rowOf(
  { name, package: pinned }: BenchServer,
  { tasks, attacks, findings }: Pick<AuditReport, 'tasks' | 'attacks' | 'findings'>,
  options: readonly string[],
  minutes: number,
): AuditRow {
  const highest = attacks.reduce((most, attack) => (attack.rate.mean > most.rate.mean ? attack : most))
  return {
    schema: 1,
    server: name,
    package: pinned,
    date: new Date().toISOString().slice(0, 10),
    command: ['agoge', ...options].join(' '),
    minutes: Number(minutes.toFixed(1)),
    tasks,
    attacks: attacks.length,
    highest: { attack: highest.name, share: highest.rate.mean },
    findings: [...findings],
  }
}
