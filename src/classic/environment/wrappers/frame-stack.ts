import { AgogeError } from '../../../error.ts'
import { box, multiBinary, multiDiscrete, rowSize } from '../space.ts'
import type { ArraySpace } from '../space.ts'
import type { AnyVector } from '../any-vector.ts'
import { wrapObservations } from './wrap-observations.ts'

/**
 * The last `frames` observations of the episode as one, the newest at the end: [frames, ...shape]. Before there are as
 * many, the first one stands in for those that are missing, or zeros (`padding: 'zero'`).
 */
export function frameStack<E extends AnyVector>(
  env: E,
  frames: number,
  { padding = 'reset' }: { padding?: 'reset' | 'zero' } = {},
): E {
  if (!Number.isSafeInteger(frames) || frames < 1) {
    throw new AgogeError('a stack has frames', {
      code: 'bad-argument',
      given: frames,
      expected: 'a positive integer',
    })
  }
  const width = rowSize(env.definition.observation)
  const older = (frames - 1) * width
  const space = stacked(env.definition.observation, frames)
  return wrapObservations(
    env,
    (observations) => ({
      first(from, fromAt, to, toAt) {
        for (let k = 0; k < older; k++) to[toAt + k] = padding === 'zero' ? 0 : from[fromAt + (k % width)]
        for (let k = 0; k < width; k++) to[toAt + older + k] = from[fromAt + k]
      },
      next(from, fromAt, to, toAt) {
        // The rows of the last stack move up; it is in `observations` also where `to` is the array of last ones.
        for (let k = 0; k < older; k++) to[toAt + k] = observations[toAt + width + k]
        for (let k = 0; k < width; k++) to[toAt + older + k] = from[fromAt + k]
      },
    }),
    space,
  )
}

function stacked(space: ArraySpace, frames: number): ArraySpace {
  const repeat = (values: ArrayLike<number>): number[] =>
    Array.from({ length: frames * values.length }, (_, k) => values[k % values.length])
  switch (space.type) {
    case 'box':
      return box([frames, ...space.shape], repeat(space.low), repeat(space.high), space.dtype)
    case 'discrete':
      return space.start === 0
        ? multiDiscrete(repeat([space.n]))
        : box([frames, 1], space.start, space.start + space.n - 1)
    case 'multi-discrete':
      return multiDiscrete(repeat(space.counts))
    case 'multi-binary':
      return multiBinary(space.n * frames)
  }
}
