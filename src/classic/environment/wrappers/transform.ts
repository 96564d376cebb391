import { AgogeError } from '../../../error.ts'
import {
  type ArraySpace,
  box,
  type BoxSpace,
  describeSpace,
  multiBinary,
  multiDiscrete,
  rowSize,
} from '../space.ts'
import type { AnyVector } from '../vector.ts'
import { wrapObservations, wrapVector, type WriteRow } from './wrap-vector.ts'

/** Transforms observations to another space. `write` transforms one row. */
export const transformObservations = <E extends AnyVector>(env: E, space: ArraySpace, write: WriteRow): E =>
  wrapObservations(env, () => ({ next: write }), space)

/** Clips every entry of the observations of a box to [low, high]. */
export function clipObservations<E extends AnyVector>(env: E, low: number, high: number): E {
  const space = asBox(env, env.definition.observation, 'observations')
  const width = rowSize(space)
  const bound = (value: number): number => Math.min(Math.max(value, low), high)
  return transformObservations(
    env,
    { ...space, low: space.low.map(bound), high: space.high.map(bound) },
    (from, fromAt, to, toAt) => {
      for (let k = 0; k < width; k++) to[toAt + k] = Math.min(Math.max(from[fromAt + k], low), high)
    },
  )
}

/**
 * Transforms rewards by a function. `returns` still has the sums of the original rewards. With `next-step`, the
 * step that only begins an episode keeps reward 0.
 */
export function transformRewards<E extends AnyVector>(
  env: E,
  change: (reward: number, envIndex: number) => number,
): E {
  const rewards = new Float64Array(env.rewards.length)
  const sameStep = env.autoreset === 'same-step'
  return wrapVector(
    env,
    { rewards },
    {
      arrays: () => ({ rewards }),
      reset(mask) {
        for (let i = 0; i < rewards.length; i++) if (mask === undefined || mask[i] === 1) rewards[i] = 0
      },
      step({ first }) {
        for (let i = 0; i < rewards.length; i++)
          rewards[i] = first[i] === 1 && !sameStep ? 0 : change(env.rewards[i], i)
      },
    },
  )
}

/** Clips rewards to [low, high]. Default: [-1, 1]. */
export const clipRewards = <E extends AnyVector>(env: E, low = -1, high = 1): E =>
  transformRewards(env, (reward) => Math.min(Math.max(reward, low), high))

/** Offers actions of another space. `write` turns one row into an action of the inner environment. */
export function transformActions<E extends AnyVector>(env: E, space: ArraySpace, write: WriteRow): E {
  const count = env.rewards.length
  const width = rowSize(space)
  const innerWidth = rowSize(env.definition.action)
  const actions = new Float32Array(count * width)
  return wrapVector(
    env,
    { actions, definition: { ...env.definition, action: space } },
    {
      arrays: () => ({ actions }),
      before() {
        for (let i = 0; i < count; i++) write(actions, i * width, env.actions, i * innerWidth, i)
      },
    },
  )
}

/** Accepts any real actions and clips them to the bounds of the inner box. */
export function clipActions<E extends AnyVector>(env: E): E {
  const space = asBox(env, env.definition.action, 'actions')
  const { low, high } = space
  const width = low.length
  return transformActions(
    env,
    box(space.shape, -Infinity, Infinity, space.dtype),
    (from, fromAt, to, toAt) => {
      for (let k = 0; k < width; k++) to[toAt + k] = Math.min(Math.max(from[fromAt + k], low[k]), high[k])
    },
  )
}

/** Offers actions in [least, most] and rescales them to the bounds of the inner box. Default: [-1, 1]. */
export function rescaleActions<E extends AnyVector>(env: E, least = -1, most = 1): E {
  const space = asBox(env, env.definition.action, 'actions')
  const { low, high } = space
  const width = low.length
  if ([...low, ...high].some((bound) => !Number.isFinite(bound))) {
    throw new AgogeError(`actions of ${env.definition.name} have no bounds to be stretched to`, {
      code: 'bad-argument',
      given: { low, high },
      expected: 'finite bounds',
    })
  }
  return transformActions(env, box(space.shape, least, most, space.dtype), (from, fromAt, to, toAt) => {
    for (let k = 0; k < width; k++)
      to[toAt + k] = low[k] + ((from[fromAt + k] - least) / (most - least)) * (high[k] - low[k])
  })
}

function asBox(env: AnyVector, space: ArraySpace, what: string): BoxSpace {
  if (space.type === 'box') return space
  throw new AgogeError(`${what} of ${env.definition.name} are not those of a box`, {
    code: 'bad-argument',
    given: describeSpace(space),
    expected: 'a box',
  })
}

/**
 * Stacks the last `frames` observations of an episode, newest last: [frames, ...shape]. At the start of an
 * episode, copies of the first observation fill the missing frames; zeros with `padding: 'zero'`.
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
        // Shifts the rows of the last stack. They are in `observations`, also if `to` is `finalObservations`.
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
