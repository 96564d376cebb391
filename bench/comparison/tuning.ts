import { arms, type ArmName } from './arms.ts'
import type { Setting } from './settings.ts'
import type { Piece, TuningPiece } from './store.ts'

/** A warm start must leave something to learn, and be able to do something. */
export const warmRange = { low: 0.5, high: 0.7 } as const

const average = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)

/** The next number of demonstrations to try, or the chosen one: the first whose mean over the tuning seeds is in the range, or else the closest to its middle. */
export function chooseWarmStart(
  { name, warmStarts, tuningSeeds }: Setting,
  pieces: readonly Piece[],
): { chosen: number } | { shown: number; seed: number } {
  const middle = (warmRange.low + warmRange.high) / 2
  const means: { shown: number; mean: number }[] = []
  for (const shown of warmStarts) {
    const found = pieces.flatMap((piece) =>
      piece.piece === 'warm-tuning' && piece.setting === name && piece.shown === shown ? [piece] : [],
    )
    const missing = tuningSeeds.find((seed) => !found.some((piece) => piece.seed === seed))
    if (missing !== undefined) return { shown, seed: missing }
    const mean = average(found.map(({ validation }) => validation))
    means.push({ shown, mean })
    if (mean >= warmRange.low) break
  }
  const [closest] = means.toSorted((a, b) => Math.abs(a.mean - middle) - Math.abs(b.mean - middle))
  return { chosen: closest.shown }
}

/** What counts in tuning: the validation by which an arm's weights are chosen. */
export const bestOf = ({ validations }: Pick<TuningPiece, 'validations'>): number =>
  Math.max(...validations.map(({ success }) => success))

/** The next rate to try with an arm, or the chosen one: the best mean over the tuning seeds, inside of those that were tried. */
export function chooseRate(
  { name, tuningSeeds }: Setting,
  arm: ArmName,
  pieces: readonly Piece[],
): { chosen: number; means: { rate: number; mean: number }[] } | { rate: number; seed: number } {
  const tried = pieces.flatMap((piece) =>
    piece.piece === 'tuning' && piece.setting === name && piece.arm === arm ? [piece] : [],
  )
  const rates = [...new Set([...arms[arm].grid, ...tried.map(({ learningRate }) => learningRate)])].sort(
    (a, b) => a - b,
  )
  for (;;) {
    for (const seed of tuningSeeds)
      for (const rate of rates)
        if (!tried.some((piece) => piece.seed === seed && piece.learningRate === rate)) return { rate, seed }
    const means = rates.map((rate) => ({
      rate,
      mean: average(tried.filter(({ learningRate }) => learningRate === rate).map(bestOf)),
    }))
    const best = means.reduce((a, b) => (b.mean > a.mean ? b : a))
    const at = means.indexOf(best)
    if (at > 0 && at < means.length - 1) return { chosen: best.rate, means }
    rates.push(beyond(best.rate, at === 0))
    rates.sort((a, b) => a - b)
  }
}

/** The next of 1, 3, 10, 30, … below or above a rate. */
export function beyond(rate: number, isBelow: boolean): number {
  const exponent = Math.floor(Math.log10(rate) + 1e-9)
  const isOne = Math.abs(rate / 10 ** exponent - 1) < 0.5
  const next = isBelow
    ? isOne
      ? 3 * 10 ** (exponent - 1)
      : 10 ** exponent
    : isOne
      ? 3 * 10 ** exponent
      : 10 ** (exponent + 1)
  return Number(next.toPrecision(1))
}
