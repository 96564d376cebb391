import type { MeanEstimate } from 'agoge/statistics'
import type { Paper } from './paper.ts'
import type { PaperScores } from './run-paper.ts'
import { judge } from './verdict.ts'
import type { Comparison, Verdict } from './verdict.ts'

/** What a run of a paper leaves behind, as JSON. */
export interface PaperResult {
  schema: 1
  id: string
  title: string
  theme: string
  claim: string
  metric: string
  higherIsBetter: boolean
  verdict: Verdict
  arms: Record<string, MeanEstimate>
  comparisons: Comparison[]
  /** By arm, in the order of the seeds 1, 2, ... */
  scores: Record<string, number[]>
  /** Seconds of computing of each arm, all seeds together. */
  seconds: Record<string, number>
  budget: Readonly<Record<string, number>>
  simplifications: readonly string[]
  command: string
  date: string
  machine: string
}

export function paperResult(
  paper: Paper,
  { scores, seconds }: PaperScores,
  record: { command: string; date: Date; machine: string },
): PaperResult {
  const { id, title, theme, claim, metric, higherIsBetter = true, budget, simplifications = [] } = paper
  return {
    schema: 1,
    id,
    title,
    theme,
    claim,
    metric,
    higherIsBetter,
    ...judge(paper, scores),
    scores,
    seconds,
    budget,
    simplifications,
    command: record.command,
    date: record.date.toISOString().slice(0, 10),
    machine: record.machine,
  }
}
