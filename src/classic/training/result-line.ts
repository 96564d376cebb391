import { intervalText, type MeanEstimate } from '../../statistics/intervals.ts'
import { count } from '../../runs/report/format.ts'
import type { SeedsSummary } from './seeds-types.ts'
import type { ClassicSummary } from './types.ts'

/** One sentence for one run. */
export function resultLine({ environment, settings, steps, return: found }: ClassicSummary): string {
  return `${environment}${byAlgorithm(settings)}: mean return ${estimateText(found)} over ${found.n} episodes, after ${count(steps)} steps.`
}

/** One sentence for several seeds. */
export function seedsLine({ environment, settings, runs, return: found }: SeedsSummary): string {
  return `${environment}${byAlgorithm(settings)}: interquartile mean return ${estimateText(found)} over ${runs.length} seeds, after ${count(runs[0]?.steps ?? 0)} steps.`
}

/** `, ppo (cleanrl)`: the algorithm and its preset, where the settings of a run name them. */
function byAlgorithm({ algorithm, preset }: Readonly<Record<string, unknown>>): string {
  if (typeof algorithm !== 'string') return ''
  return typeof preset === 'string' ? `, ${algorithm} (${preset})` : `, ${algorithm}`
}

/** `487.2 (480.1 to 493.0)`: with its 95% interval, or why it has none. */
export function estimateText(estimate: MeanEstimate): string {
  return `${returnText(estimate.mean)} (${intervalText(estimate, returnText)})`
}

/** A return with as many digits as can matter. */
export function returnText(value: number): string {
  return value.toFixed(Math.abs(value) >= 100 ? 1 : Math.abs(value) >= 1 ? 2 : 3)
}
