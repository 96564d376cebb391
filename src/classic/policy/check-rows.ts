import { describeSpace } from '../environment/index.ts'
import type { DiscreteSpace, MultiDiscreteSpace } from '../environment/index.ts'
import { AgogeError } from '../../error.ts'

/**
 * Whether observations are rows of the width that a policy was made for; others would be read across their borders.
 *
 * @throws AgogeError `shape-mismatch`.
 */
export function checkRows(observations: ArrayLike<number>, rows: number, width: number): void {
  if (observations.length === rows * width) return
  throw new AgogeError('These observations are not those that the agent was made for', {
    code: 'shape-mismatch',
    given: `${observations.length / rows} numbers a row`,
    expected: `${width} numbers a row`,
    hint: 'Play in the environment of its training; behind the same wrappers by evaluateAgent(agent, environment, { wrap })',
  })
}

/**
 * Where an observed choice stands among those of its number, the `k`-th of the observation. Beyond them stand those of other
 * numbers and rows.
 *
 * @throws AgogeError `not-in-space`.
 */
export function placeOf(space: DiscreteSpace | MultiDiscreteSpace, choice: number, k = 0): number {
  const place = space.type === 'discrete' ? choice - space.start : choice
  const count = space.type === 'discrete' ? space.n : space.counts[k]
  if (place >= 0 && place < count) return place
  throw new AgogeError(`The agent was made for other observations: it was shown ${choice}`, {
    code: 'not-in-space',
    given: choice,
    expected: `a member of ${describeSpace(space)}`,
    hint: 'Play in the environment of its training',
  })
}
