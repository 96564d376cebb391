import { AgogeError } from '../../../error.ts'

/** One thing that is wrong with an environment. */
export interface Finding {
  /** Which check: `space`, `determinism`, `neighbours`, `context` ... */
  check: string
  /** Which array, feature or entry of a result. */
  field: string
  envIndex?: number
  step?: number
  /** The whole sentence, with the name of the environment. */
  message: string
}

/** Collects findings, one for each check and field. */
export interface Findings {
  readonly list: Finding[]
  add(check: string, field: string, what: string, where?: { envIndex?: number; step?: number }): void
}

export function createFindings(name: string): Findings {
  const list: Finding[] = []
  return {
    list,
    add(check, field, what, where = {}) {
      if (list.some((finding) => finding.check === check && finding.field === field)) return
      const place = [
        name,
        ...(where.envIndex === undefined ? [] : [`slot ${where.envIndex}`]),
        ...(where.step === undefined ? [] : [`step ${where.step}`]),
      ].join(', ')
      list.push({ check, field, ...where, message: `${place}: ${field} ${what}` })
    },
  }
}

/** @throws AgogeError `bad-environment` that lists the findings, unless there are none. */
export function throwFindings(name: string, findings: readonly Finding[]): void {
  if (findings.length === 0) return
  const lines = findings.map(({ check, message }) => `- [${check}] ${message}`)
  throw new AgogeError(
    `${name} fails ${findings.length === 1 ? 'a check' : `${findings.length} checks`}:\n${lines.join('\n')}`,
    { code: 'bad-environment', given: findings, expected: 'an environment that keeps the contract' },
  )
}
