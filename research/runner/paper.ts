import { probabilityOfImprovement } from 'agoge/llm'
import { type MeanEstimate, stratifiedInterquartileMean } from 'agoge/statistics'
import type { PaperScores } from './run-paper.ts'

/** Input of an arm: its seed and how much it may do. */
export interface ArmRun {
  seed: number
  /** The paper's `budget`, or a small fraction of it in a quick run. */
  budget: Readonly<Record<string, number>>
  signal?: AbortSignal
}

/** A method or a baseline of an experiment: runs with one seed and returns its score. */
type Arm = (run: ArmRun) => Promise<number> | number

/** The claim about the scores: arm `better` beats every arm of `than` by at least `margin` (default: 0). */
interface Expectation<Name extends string> {
  better: Name
  than: readonly Name[]
  margin?: number
}

/** One paper as a short experiment: its claim, the test of the claim, and what counts as reproduced. */
export interface Paper<Name extends string = string> {
  /** The id in the catalogue. */
  id: string
  title: string
  theme: string
  /** The claim in one sentence. */
  claim: string
  arms: Readonly<Record<Name, Arm>>
  /** What the score of an arm is, with its unit. */
  metric: string
  /** Whether a higher score is better. Default: true. */
  higherIsBetter?: boolean
  /** Seeds 1 to this number, fixed in advance. */
  seeds: number
  budget: Readonly<Record<string, number>>
  /** The budget of a quick run, which shows only that everything runs. */
  quick: Readonly<Record<string, number>>
  expect: Expectation<NoInfer<Name>>
  /** Simplifications relative to the paper. */
  simplifications?: readonly string[]
}

/** Infers the arms, so that `expect` can name only existing ones. Checks nothing at run time. */
export const definePaper = <Name extends string>(paper: Paper<Name>): Paper<Name> => paper

type Verdict = 'reproduced' | 'not reproduced' | 'inconclusive'

/** The claimed better arm against one of the others. */
interface Comparison {
  better: string
  than: string
  /** Probability that a run of the better arm beats one of the other by more than the margin. */
  improvement: MeanEstimate
}

interface Judgement {
  verdict: Verdict
  /** Interquartile mean of each arm with its interval. */
  arms: Record<string, MeanEstimate>
  comparisons: Comparison[]
}

/**
 * Reproduced: against every arm that the claim names, the 95% interval of the probability of improvement lies above one
 * half. Not reproduced: against some arm, the interval lies below one half or reaches at most one half. Otherwise
 * inconclusive, also if there are too few runs for an interval.
 */
export function judge(
  paper: Pick<Paper, 'expect' | 'higherIsBetter'>,
  scores: Readonly<Record<string, readonly number[]>>,
): Judgement {
  const { better, than, margin = 0 } = paper.expect
  const sign = paper.higherIsBetter === false ? -1 : 1
  const signed = (arm: string, shift = 0): number[] => scores[arm].map((score) => sign * score + shift)
  const comparisons = than.map((other) => ({
    better,
    than: other,
    improvement: probabilityOfImprovement(signed(better), signed(other, margin)),
  }))
  const all = comparisons.every(({ improvement }) => improvement.low !== null && improvement.low > 0.5)
  const none = comparisons.some(({ improvement }) => improvement.high !== null && improvement.high <= 0.5)
  return {
    verdict: all ? 'reproduced' : none ? 'not reproduced' : 'inconclusive',
    arms: Object.fromEntries(
      Object.entries(scores).map(([arm, runs]) => [
        arm,
        stratifiedInterquartileMean([runs], { resamples: 2_000 }),
      ]),
    ),
    comparisons,
  }
}

/** Result file of a run of a paper, as JSON. */
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
  /** Computing time of each arm in seconds, summed over seeds. */
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
