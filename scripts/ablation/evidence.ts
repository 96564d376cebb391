import { holmAdjusted, average, studentQuantile } from 'agoge/statistics'
import { interval, oneSided, pairedEvidence } from '../../research/runner/evidence.ts'
import { plan } from './plan.ts'
import { bestOf, tuned, type AblationRow } from './runs.ts'

/** A preset against the baseline on a task, paired by seed, in points. */
export interface Comparison {
  task: string
  preset: string
  mean: number
  /** Of all comparisons together at 95%, by Bonferroni: Holm's procedure has no simple intervals. */
  low: number
  high: number
  /** Two-sided, by Holm over the family. */
  p: number
  /** That the difference is within the effect on both sides, by Holm over the family. */
  equivalenceP: number
}

/** All presets but the baseline, on all tasks: one family. Rows of each preset have the same seeds in the same order. */
export function comparisons(rows: readonly AblationRow[], taskNames: readonly string[]): Comparison[] {
  const gains = (task: string, preset: string): number[] =>
    rows.filter((row) => row.task === task && row.preset === preset).map(({ gain }) => gain)
  const pairs = taskNames.flatMap((task) =>
    plan.presets
      .filter((preset) => preset !== plan.baseline)
      .map((preset) => {
        const evidence = pairedEvidence(gains(task, preset), gains(task, plan.baseline))
        return { task, preset, evidence }
      }),
  )
  const different = holmAdjusted(
    pairs.map(({ evidence }) => {
      const { above, below } = oneSided(evidence, 0)
      return Math.min(1, 2 * Math.min(above, below))
    }),
  )
  const equivalent = holmAdjusted(
    pairs.map(({ evidence }) =>
      Math.max(oneSided(evidence, -plan.effect).above, oneSided(evidence, plan.effect).below),
    ),
  )
  return pairs.map(({ task, preset, evidence }, i) => ({
    task,
    preset,
    mean: evidence.mean,
    ...interval(evidence, 1 - 0.05 / pairs.length),
    p: different[i],
    equivalenceP: equivalent[i],
  }))
}

/**
 * Seeds of a task, from the paired deviations of the tuning runs at the best rates (root mean square over presets): as many as an
 * effect needs for 80% power at the strictest level of Holm, within the plan's bounds.
 */
export function seedsOf(
  tuning: readonly AblationRow[],
  task: string,
): { deviation: number; needed: number; seeds: number[] } {
  const gains = (preset: string): number[] => {
    const rate = bestOf(tuned(tuning, task, preset))
    const own = tuning.filter((row) => row.task === task && row.preset === preset && row.rate === rate)
    return plan.tuningSeeds.map((seed) => own.find((row) => row.seed === seed)?.gain ?? NaN)
  }
  const base = gains(plan.baseline)
  const variances = plan.presets
    .filter((preset) => preset !== plan.baseline)
    .map((preset) => {
      const { error, differences } = pairedEvidence(gains(preset), base)
      return error ** 2 * differences.length
    })
  const deviation = Math.sqrt(average(variances))
  const level = 0.05 / (3 * (plan.presets.length - 1))
  const z = studentQuantile(1 - level / 2, 1e6) + studentQuantile(0.8, 1e6)
  const needed = Math.ceil((z * (deviation / plan.effect)) ** 2)
  const count = Math.min(plan.mostSeeds, Math.max(plan.fewestSeeds, needed))
  return { deviation, needed, seeds: Array.from({ length: count }, (_, i) => plan.firstSeed + i) }
}
