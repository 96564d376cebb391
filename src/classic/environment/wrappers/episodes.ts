import { AgogeError } from '../../../error.ts'
import type { EnvArrays } from '../definition.ts'
import type { NumberArray } from '../space-values.ts'
import { rowSize } from '../space.ts'
import type { AnyVector, VectorEnvironment } from '../vector.ts'
import { wrapVector } from './wrap-vector.ts'

/** One episode as columns. T is its length. */
export interface ArrayEpisode {
  envIndex: number
  length: number
  /** [T + 1, rowSize(observation)]. The last row is the final observation, in which no action was taken. */
  observations: Float32Array
  /** [T, rowSize(action)]. */
  actions: Float32Array
  /** [T]. */
  rewards: Float64Array
  /** [T + 1, n], 1 = allowed. Empty for environments without masks. */
  actionMasks: Uint8Array
  terminated: boolean
  truncated: boolean
  /** [features]: the context of the episode, in the order of the context space. Empty for user-defined objects. */
  context: Float64Array
}

/**
 * Passes every completed episode to `onEpisode`, as columns in fresh arrays. Memory is only allocated at the
 * end of an episode, and when an episode is longer than all earlier ones of its environment. Episodes that a
 * reset abandons are dropped. The columns have the actions, rewards and observations of `env`; outer wrappers
 * do not affect them. Apply a time limit before this wrapper.
 */
export function recordEpisodes<E extends AnyVector>(env: E, onEpisode: (episode: ArrayEpisode) => void): E {
  const count = env.rewards.length
  const width = rowSize(env.definition.observation)
  const actionWidth = rowSize(env.definition.action)
  const choices = env.actionMask.length / count
  const contextColumns = Object.values(env.envs.context)
  const features = contextColumns.length
  const sameStep = env.autoreset === 'same-step'
  const lengths = new Int32Array(count)
  const contexts = new Float64Array(count * features)
  const columns = Array.from({ length: count }, () => makeColumns(64))

  function makeColumns(steps: number) {
    return {
      observations: new Float32Array((steps + 1) * width),
      actions: new Float32Array(steps * actionWidth),
      rewards: new Float64Array(steps),
      actionMasks: new Uint8Array((steps + 1) * choices),
    }
  }

  function copyRow(from: NumberArray, fromAt: number, to: NumberArray, toAt: number, size: number): void {
    for (let k = 0; k < size; k++) to[toAt + k] = from[fromAt + k]
  }

  function writeObservation(i: number, rows: Float32Array, masks: Uint8Array): void {
    copyRow(rows, i * width, columns[i].observations, lengths[i] * width, width)
    copyRow(masks, i * choices, columns[i].actionMasks, lengths[i] * choices, choices)
  }

  function begin(i: number): void {
    lengths[i] = 0
    for (let k = 0; k < features; k++) contexts[i * features + k] = contextColumns[k][i]
    writeObservation(i, env.observations, env.actionMask)
  }

  function grow(i: number): void {
    const old = columns[i]
    const wider = makeColumns(old.rewards.length * 2)
    wider.observations.set(old.observations)
    wider.actions.set(old.actions)
    wider.rewards.set(old.rewards)
    wider.actionMasks.set(old.actionMasks)
    columns[i] = wider
  }

  function emit(i: number): void {
    const length = lengths[i]
    const { observations, actions, rewards, actionMasks } = columns[i]
    onEpisode({
      envIndex: i,
      length,
      observations: observations.slice(0, (length + 1) * width),
      actions: actions.slice(0, length * actionWidth),
      rewards: rewards.slice(0, length),
      actionMasks: actionMasks.slice(0, (length + 1) * choices),
      terminated: env.terminated[i] === 1,
      truncated: env.truncated[i] === 1,
      context: contexts.slice(i * features, (i + 1) * features),
    })
  }

  return wrapVector(
    env,
    {},
    {
      arrays: () => ({
        lengths,
        contexts,
        ...Object.fromEntries(
          columns.flatMap((column, i) =>
            Object.entries(column).map(([name, array]) => [`${name}/${i}`, array as NumberArray]),
          ),
        ),
      }),
      restore(saved) {
        lengths.set(new Int32Array(saved.lengths))
        contexts.set(new Float64Array(saved.contexts))
        for (let i = 0; i < count; i++) {
          columns[i] = {
            observations: new Float32Array(saved[`observations/${i}`].slice(0)),
            actions: new Float32Array(saved[`actions/${i}`].slice(0)),
            rewards: new Float64Array(saved[`rewards/${i}`].slice(0)),
            actionMasks: new Uint8Array(saved[`actionMasks/${i}`].slice(0)),
          }
        }
      },
      reset(mask) {
        for (let i = 0; i < count; i++) if (mask === undefined || mask[i] === 1) begin(i)
      },
      before({ first }) {
        for (let i = 0; i < count; i++) {
          if (first[i] === 1) continue
          if (lengths[i] === columns[i].rewards.length) grow(i)
          copyRow(env.actions, i * actionWidth, columns[i].actions, lengths[i] * actionWidth, actionWidth)
        }
      },
      step({ first, last }) {
        for (let i = 0; i < count; i++) {
          if (first[i] === 1 && last[i] === 0) {
            begin(i)
            continue
          }
          columns[i].rewards[lengths[i]] = env.rewards[i]
          lengths[i]++
          if (last[i] === 0) writeObservation(i, env.observations, env.actionMask)
          else {
            writeObservation(i, env.finalObservations, env.finalActionMask)
            emit(i)
            if (sameStep) begin(i)
          }
        }
      },
      truncate(i) {
        emit(i)
        if (sameStep) begin(i)
      },
    },
  )
}

/**
 * Lets `place` choose the initial states, for example a state of an earlier episode or one that a guide policy
 * reached. `place` runs after the environment's own reset and writes row `envIndex` of `envs.state`. It may
 * step the environment to get there: rewards, ends and actions are restored, and these steps are not counted.
 * `rewards`, `terminated` and `truncated` still describe the episode that has just ended. The chosen state must
 * not be terminal.
 *
 * A saved state does not include what `place` remembers.
 */
export function startAt<E extends VectorEnvironment>(
  env: E,
  place: (envs: EnvArrays, envIndex: number, env: VectorEnvironment) => void,
): E {
  const { envs, definition } = env
  const { rewards, terminated, actions } = envs
  const size = actions.length / envs.count
  const action = new Float32Array(size)

  function begin(envIndex: number): void {
    const reward = rewards[envIndex]
    const end = terminated[envIndex]
    for (let k = 0; k < size; k++) action[k] = actions[envIndex * size + k]
    place(envs, envIndex, env)
    rewards[envIndex] = reward
    terminated[envIndex] = end
    for (let k = 0; k < size; k++) actions[envIndex * size + k] = action[k]
    definition.observe(envs, envIndex)
    definition.mask?.(envs, envIndex)
  }
  function beginAll({ first }: { first: Uint8Array }): void {
    for (let envIndex = 0; envIndex < envs.count; envIndex++) if (first[envIndex] === 1) begin(envIndex)
  }

  return wrapVector(
    env,
    {},
    {
      arrays: () => ({}),
      reset: (_mask, boundaries) => beginAll(boundaries),
      step: beginAll,
      truncate(envIndex) {
        if (env.autoreset === 'same-step') begin(envIndex)
      },
    },
  )
}

/**
 * Truncates every episode after `maxSteps` steps, also one that terminates in that step. The option `maxSteps`
 * of a vector does the same.
 */
export function timeLimit<E extends AnyVector>(env: E, maxSteps: number): E {
  if (!Number.isSafeInteger(maxSteps) || maxSteps < 1) {
    throw new AgogeError('a time limit is a number of steps', {
      code: 'bad-argument',
      given: maxSteps,
      expected: 'a positive integer',
    })
  }
  const { lengths, truncated, definition } = env

  /** Runs calls one after another, because an asynchronous vector takes one call at a time. */
  function cutFrom(envIndex: number): void | Promise<void> {
    for (let i = envIndex; i < lengths.length; i++) {
      if (lengths[i] < maxSteps || truncated[i] === 1) continue
      const cutting = env.truncate(i)
      if (cutting instanceof Promise) return cutting.then(() => cutFrom(i + 1))
    }
  }

  return wrapVector(
    env,
    { definition: { ...definition, maxSteps: Math.min(maxSteps, definition.maxSteps ?? Infinity) } },
    {
      arrays: () => ({}),
      step: () => cutFrom(0),
    },
  )
}
