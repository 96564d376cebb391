import type { LeverContext } from './lever.ts'
import type { Arm, SearchOptions, SearchState } from './search.ts'
import { allowanceOf } from './try-proposals.ts'

/** What a lever says of its next proposal, in the unit of the budget. */
export interface Outlook {
  /** What it costs before it is tried. */
  upfront: number
  /** That, and what the test at the end costs more if the setup is chosen. */
  price: number
  /** What it may add; undefined if the lever cannot know. */
  expected: number | undefined
}

/** Asks a lever. */
export function outlookOf(
  { lever }: Arm,
  context: LeverContext,
  state: SearchState,
  options: SearchOptions,
): Outlook {
  const { unit, costOfTrial } = options
  const upfront = unit(lever.upfront?.(context) ?? { tokens: 0, dollars: 0 })
  const { costFactor = 1 } = lever
  const ofTest = allowanceOf(state, options) - allowanceOf(state, options, costFactor * costOfTrial)
  return { upfront, price: upfront + ofTest, expected: lever.expects?.(context) }
}

/** What a proposal is expected to add where the lever cannot know. */
const expectedStep = 0.05

/**
 * What the next proposal of a lever is expected to add for its cost. Where the lever cannot know: what its last one added, half of it after each one since
 * then that added nothing, and a little for what is not known yet, which falls with the square root of their number, so that cheap proposals get more of
 * the budget than dear ones. A lever that has proposed nothing goes first, unless its proposal has a price: a training, or a dearer test.
 */
export function promiseOf(
  { lastStep, without, round, spent }: Arm,
  { upfront, price, expected }: Outlook,
): number {
  if (round === 0) return price === 0 ? Infinity : (expected ?? expectedStep) / price
  // A proposal that costs nothing is never put off, whatever it promises.
  if (spent === 0) return Infinity
  const unknown = lastStep * 0.5 ** without + expectedStep / Math.sqrt(1 + without)
  return (expected ?? unknown) / Math.max(upfront, spent / round)
}
