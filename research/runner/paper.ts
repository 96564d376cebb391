import { probabilityOfImprovement } from 'agoge/llm'
import { type MeanEstimate, stratifiedInterquartileMean } from 'agoge/statistics'
import type { PaperScores } from './run-paper.ts'

/** What an arm is given: which seed to use and how much it may do. */
export interface ArmRun {
  seed: number
  /** The paper's `budget`, or a small part of it in a quick run. */
  budget: Readonly<Record<string, number>>
  signal?: AbortSignal
}

/** A method or a baseline of an experiment: plays one seed and gives its score. */
type Arm = (run: ArmRun) => Promise<number> | number

/** What the claim says of the scores: the arm `better` beats every arm of `than`, by `margin` at least (default 0). */
interface Expectation<Name extends string> {
  better: Name
  than: readonly Name[]
  margin?: number
}

/** One paper as a short experiment: what it claims, how that is put to the test, and what would count. */
export interface Paper<Name extends string = string> {
  /** That of the catalogue. */
  id: string
  title: string
  theme: string
  /** The claim in one sentence. */
  claim: string
  arms: Readonly<Record<Name, Arm>>
  /** What the score of an arm is, with its unit. */
  metric: string
  /** Whether a higher score is better; default true. */
  higherIsBetter?: boolean
  /** Seeds 1 to this number, fixed beforehand. */
  seeds: number
  budget: Readonly<Record<string, number>>
  /** The budget of a quick run, which shows only that everything runs. */
  quick: Readonly<Record<string, number>>
  expect: Expectation<NoInfer<Name>>
  /** Where something smaller stands in for what the paper used. */
  simplifications?: readonly string[]
}

/** Checks nothing, infers the arms: so that `expect` can name only arms that there are. */
export const definePaper = <Name extends string>(paper: Paper<Name>): Paper<Name> => paper

type Verdict = 'reproduced' | 'not reproduced' | 'inconclusive'

/** The arm that should be better against one of the others. */
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
 * Reproduced: against every arm that the claim names, the 95% interval of the probability of improvement lies above
 * one half. Not reproduced: against some arm it lies below, or reaches one half at most. Otherwise inconclusive,
 * also where there are too few runs for an interval.
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
