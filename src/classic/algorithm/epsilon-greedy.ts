import { AgogeError } from '../../error.ts'
import type { Random } from '../../engine/random/index.ts'

/** The share of random actions: falls in a straight line over `explorationFraction` of a run, then stays. */
export interface EpsilonSchedule {
  epsilonStart: number
  epsilonEnd: number
  explorationFraction: number
}

/** What the rows of values are of: those of slots stand in their order, those of a batch do not. */
export type ValueRows = 'envIndex' | 'replayed transition'

/** Epsilon when `seen` of `total` steps are done. */
export function epsilonAt(schedule: EpsilonSchedule, seen: number, total: number): number {
  const { epsilonStart, epsilonEnd, explorationFraction } = schedule
  const done = explorationFraction * total
  const share = done > 0 ? Math.min(1, seen / done) : 1
  return epsilonStart + share * (epsilonEnd - epsilonStart)
}

/**
 * The best of the `n` values of a row, the first of equals; only where `mask` [rows, n] is 1. Where nothing is allowed,
 * as in states that end an episode may be, the first.
 *
 * @param rows what a row is of, for the message.
 * @throws AgogeError `not-finite` where the values are no numbers; whoever plays adds environment and step
 */
export function greedy(
  values: ArrayLike<number>,
  row: number,
  n: number,
  mask: Uint8Array | undefined,
  rows: ValueRows = 'envIndex',
): number {
  const at = row * n
  let best = -1
  for (let i = 0; i < n; i++) {
    if (mask !== undefined && mask[at + i] === 0) continue
    if (best < 0 || values[at + i] > values[at + best]) best = i
  }
  if (best < 0) best = 0
  if (!Number.isFinite(values[at + best])) throw notFinite(rows, row, best, values[at + best])
  return best
}

/** One of the allowed of `n` actions of a row, each equally likely. */
export function randomAction(random: Random, row: number, n: number, mask: Uint8Array | undefined): number {
  if (mask === undefined) return random.int(n)
  const at = row * n
  let allowed = 0
  for (let i = 0; i < n; i++) allowed += mask[at + i]
  let left = random.int(Math.max(1, allowed))
  for (let i = 0; i < n; i++) if (mask[at + i] === 1 && left-- === 0) return i
  return 0
}

/** A mask as the functions here take it: none where the environment has none. */
export const maskOrNone = (mask: Uint8Array | undefined): Uint8Array | undefined =>
  mask !== undefined && mask.length > 0 ? mask : undefined

function notFinite(rows: ValueRows, row: number, choice: number, value: number): AgogeError {
  return new AgogeError(`the value of choice ${choice} of ${rows} ${row} is ${value}`, {
    code: 'not-finite',
    given: { [rows]: row, field: `values[${choice}]`, value: String(value) },
    expected: 'finite values',
    hint: 'observations or weights hold NaN or infinity: lower the learning rate, normalise observations',
  })
}
