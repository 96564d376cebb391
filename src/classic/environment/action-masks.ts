import { AgogeError } from '../../error.ts'
import type { SampleMask } from './space-sample.ts'
import type { ArraySpace } from './space.ts'

/**
 * The number of choices of each number of an action. In an action mask (1 = allowed) their entries are
 * concatenated. A bit has two choices, 0 and 1. A box has none.
 */
export function choiceCounts(space: ArraySpace): readonly number[] {
  switch (space.type) {
    case 'box':
      return []
    case 'discrete':
      return [space.n]
    case 'multi-discrete':
      return space.counts
    case 'multi-binary':
      return Array.from({ length: space.n }, () => 2)
  }
}

/**
 * The number of entries of an action mask.
 *
 * @throws AgogeError `bad-argument` for a box, which has no choices
 */
export function maskSize(name: string, space: ArraySpace): number {
  if (space.type === 'box') {
    throw new AgogeError(`${name} has an action mask, but its actions are no choices`, {
      code: 'bad-argument',
      given: space.type,
      expected: 'a discrete, multi-discrete or multi-binary action space',
      hint: 'leave the mask out; bounds of continuous actions are those of the box',
    })
  }
  return choiceCounts(space).reduce((sum, n) => sum + n, 0)
}

/**
 * The index of the first number of an action that the mask forbids, or -1 if all are allowed. The action starts
 * at `at` of `actions`, its mask at `maskAt` of `mask`. Numbers that are not valid choices are ignored.
 */
export function forbiddenChoice(
  space: ArraySpace,
  actions: ArrayLike<number>,
  at: number,
  mask: ArrayLike<number>,
  maskAt: number,
): number {
  const counts = choiceCounts(space)
  const start = space.type === 'discrete' ? space.start : 0
  let offset = maskAt
  for (let k = 0; k < counts.length; k++) {
    if (mask[offset + actions[at + k] - start] === 0) return k
    offset += counts[k]
  }
  return -1
}

/** An action mask in the form that `sampleSpace` takes, or undefined if a number has no allowed choice. */
export function sampleMaskOf(space: ArraySpace, mask: Uint8Array): SampleMask<ArraySpace> | undefined {
  let offset = 0
  const parts = choiceCounts(space).map((n) => mask.subarray(offset, (offset += n)))
  if (parts.length === 0 || !parts.every((part) => part.includes(1))) return undefined
  switch (space.type) {
    case 'box':
      return undefined
    case 'discrete':
      return parts[0]
    case 'multi-discrete':
      return parts
    case 'multi-binary':
      return parts.map(([zero, one]) => (zero === 0 ? 1 : one === 0 ? 0 : 2))
  }
}
