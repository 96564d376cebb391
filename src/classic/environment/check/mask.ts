import { choiceCounts, sampleMaskOf } from '../action-masks.ts'
import { isArraySpace } from '../object-kind.ts'
import type { Space } from '../space.ts'
import type { Findings } from './finding.ts'

/** A mask as `sampleSpace` takes it; undefined where there is none, or none that allows an action. */
export const sampled = (space: Space, mask: ArrayLike<number> | undefined): unknown =>
  mask === undefined || !isArraySpace(space) ? undefined : sampleMaskOf(space, Uint8Array.from(mask))

/**
 * Looks at a mask that an object gave. False where no action can be chosen by it.
 *
 * @param whose for the message, for example `of nought `.
 */
export function lookAtMask(
  space: Space,
  mask: ArrayLike<number>,
  findings: Findings,
  step: number,
  whose = '',
): boolean {
  const entries = Array.from(mask)
  const n = isArraySpace(space) ? choiceCounts(space).reduce((sum, count) => sum + count, 0) : 0
  if (n === 0 || entries.length !== n) {
    findings.add(
      'mask',
      'actionMask',
      `${whose}has ${entries.length} entries, expected one for each of the ${n} choices`,
      { step },
    )
    return false
  }
  if (entries.some((entry) => entry !== 0 && entry !== 1))
    findings.add('mask', 'actionMask', `${whose}is ${entries.join(' ')}, expected zeros and ones`, { step })
  if (sampled(space, mask) !== undefined) return true
  findings.add('mask', 'actionMask', `${whose}allows no action`, { step })
  return false
}
