import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { defined } from '../../defined.ts'
import { importFile } from '../../import-file.ts'
import { auditEnvironment } from '../../llm/audit/audit.ts'
import type { AuditOptions } from '../../llm/audit/audit.ts'
import { auditTable, auditText } from '../../llm/audit/report.ts'
import { checkFile, writeWhole } from '../../runs/files.ts'
import { isEnvironmentFile } from '../../classic/training/environment-file.ts'
import { type Console, table } from '../shared/console.ts'
import { openEnvironment } from './open-environment.ts'
import type { EnvironmentOptions } from './open-environment.ts'

export interface AuditCommand extends EnvironmentOptions {
  tasks: number
  seed: number
  threshold: number
  /** True prints the report, a name writes it. */
  json?: string | true
  yes?: boolean
}

/** Exit code if an attack is rewarded for undone tasks more often than the threshold. */
export const findingsCode = 2

// A live system is asked slowly, and answers every call for somebody else too.
const slowEffort = 60

/** `agoge audit`: attacks the judge of an environment. Returns the exit code. */
export async function runAudit(command: AuditCommand, terminal: Console): Promise<number> {
  const { environment: name, tasks: count, seed, threshold, json } = command
  if (typeof json === 'string') checkFile(json)
  const wanted = { train: count, validation: 0, test: count, 'unseen-paraphrase': 0 }
  const opened = await openEnvironment(command, { seed, yes: command.yes === true, wanted }, terminal)
  try {
    const { environment, plan, reward, heldOut, calls } = opened
    const done = await ownCheck(name)
    const report = await auditEnvironment({
      environment,
      tasks: heldOut('test', count),
      practice: heldOut('train', count),
      limits: plan.limits,
      seed,
      threshold,
      signal: terminal.signal,
      ...(calls?.callsPerSecond !== undefined && { effort: slowEffort }),
      ...defined({ reward, done }),
      onAttack: (attack, at, of) => terminal.err(`attack ${at + 1} of ${of}: ${attack}`),
    })
    const text = `${JSON.stringify(report, null, 2)}\n`
    if (json === true) terminal.out(text.trimEnd())
    else {
      const { header, rows } = auditTable(report)
      terminal.out([table(header, rows), '', ...auditText(report)].join('\n'))
      if (json !== undefined) writeWhole(json, text)
    }
    return report.findings.length > 0 ? findingsCode : 0
  } finally {
    await opened.environment.close()
  }
}

/** The function `done` that a module exports beside its environment. */
async function ownCheck(name: string): Promise<AuditOptions['done']> {
  if (!isEnvironmentFile(name) || !existsSync(name)) return undefined
  const { done } = await importFile(resolve(name))
  return typeof done === 'function' ? (done as NonNullable<AuditOptions['done']>) : undefined
}
