import { wilsonInterval } from '../../statistics/statistics.ts'
import type { Estimate } from '../../statistics/statistics.ts'
import type { LoopState } from './state.ts'

/** The highest success of a kind of task in the validations of a phase. */
export interface KindRecord {
  step: number
  successes: number
  trials: number
  /** Whether the present fall has been reported. */
  isReported: boolean
}

/** Quantile of the normal distribution for 99% intervals. With 95%, half of all runs would report a kind that fell by chance. */
const z = 2.576

/** Whether the 99% Wilson interval of successes is below that of an earlier count. */
export function hasFallen(
  before: { successes: number; trials: number },
  now: { successes: number; trials: number },
): boolean {
  if (before.trials === 0 || now.trials === 0) return false
  return (
    wilsonInterval(now.successes, now.trials, z).high < wilsonInterval(before.successes, before.trials, z).low
  )
}

/**
 * Compares a validation with the earlier ones of its phase. A kind of task has fallen if its 99% Wilson interval lies below that of
 * its highest earlier success: 3 of 14 tasks after 13, say. A fall is reported once, and again only after the kind had recovered.
 *
 * @returns a sentence for each kind that has fallen, with counts.
 */
export function fallenKinds(
  state: Pick<LoopState, 'step' | 'kindRecords'>,
  kinds: Readonly<Record<string, Estimate>>,
): string[] {
  const records: Record<string, KindRecord> = { ...state.kindRecords }
  const fallen: string[] = []
  for (const [kind, { mean, n }] of Object.entries(kinds)) {
    if (n === 0) continue
    const now = { step: state.step, successes: Math.round(mean * n), trials: n, isReported: false }
    const best = Object.hasOwn(records, kind) ? records[kind] : undefined
    if (best === undefined || mean >= best.successes / best.trials) {
      records[kind] = now
      continue
    }
    const isFallen = hasFallen(best, now)
    if (isFallen && !best.isReported)
      fallen.push(
        `${kind} fell in validation: ${now.successes} of ${n} tasks, after ${best.successes} of ${best.trials} at step ${best.step}`,
      )
    records[kind] = { ...best, isReported: isFallen }
  }
  state.kindRecords = records
  return fallen
}
