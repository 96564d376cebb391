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

/** Observations of another space, written row by row by `write`. */
export const transformObservations = <E extends AnyVector>(env: E, space: ArraySpace, write: WriteRow): E =>
  wrapObservations(env, () => ({ next: write }), space)

/** Observations of a box with every entry brought between `low` and `high`. */
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
 * Rewards changed by a function. `returns` stay those of the rewards inside; the step that only begins an episode
 * (`next-step`) keeps its 0.
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

/** Rewards brought between `low` and `high`, by default -1 and 1. */
export const clipRewards = <E extends AnyVector>(env: E, low = -1, high = 1): E =>
  transformRewards(env, (reward) => Math.min(Math.max(reward, low), high))

/** Actions of another space, turned row by row into those of the environment by `write`. */
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

/** Any real actions, brought inside the bounds of the environment's box. */
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

/** Actions between `least` and `most`, by default -1 and 1, stretched to the bounds of the environment's box. */
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
