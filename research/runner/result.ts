import { type Judgement, judge } from './judge.ts'
import type { Paper, PaperRuns } from './paper.ts'
import { type Plan, planHash, type Seeds } from './plan.ts'

/** Result file of a run of a paper, as JSON. */
export interface PaperResult extends Judgement {
  schema: 2
  id: string
  title: string
  theme: string
  claim: string
  simplifications: readonly string[]
  /** The plan that was run: its hash, and when it was made. */
  plan: { hash: string; date: string }
  seeds: Seeds
  again: Seeds
  runs: PaperRuns
  command: string
  /** When the run ended, ISO 8601. */
  date: string
  machine: string
}

export function paperResult(
  paper: Paper,
  plan: Plan,
  runs: PaperRuns,
  record: { command: string; date: Date; machine: string },
): PaperResult {
  const { id, title, theme, claim, simplifications = [] } = paper
  return {
    schema: 2,
    id,
    title,
    theme,
    claim,
    ...judge(paper, runs),
    simplifications,
    plan: { hash: planHash(plan), date: plan.date },
    seeds: plan.seeds,
    again: plan.again,
    runs,
    command: record.command,
    date: record.date.toISOString(),
    machine: record.machine,
  }
}

/** Why a result does not count under a plan. Null if it does. */
export function outOfDate(result: Pick<PaperResult, 'plan' | 'date'>, plan: Plan): string | null {
  if (result.plan.hash !== planHash(plan)) return 'the result is of another plan'
  if (result.date < plan.date) return 'the result is older than its plan'
  return null
}

/** JSON with lists of numbers on one line. */
export const resultText = (value: PaperResult | Plan): string =>
  `${JSON.stringify(value, null, 2).replaceAll(/\[\s+([-\d.e+,\s]+?)\s+\]/g, (_, list: string) => `[${list.replaceAll(/\s+/g, ' ')}]`)}\n`
