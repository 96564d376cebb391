import { stratifiedInterquartileMean } from 'agoge/statistics'
import { probabilityOfImprovement } from 'agoge/llm'
import type { MeanEstimate } from 'agoge/statistics'
import type { Paper } from './paper.ts'

export type Verdict = 'reproduced' | 'not reproduced' | 'inconclusive'

/** The arm that should be better against one of the others. */
export interface Comparison {
  better: string
  than: string
  /** Probability that a run of the better arm beats one of the other by more than the margin. */
  improvement: MeanEstimate
}

export interface Judgement {
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
