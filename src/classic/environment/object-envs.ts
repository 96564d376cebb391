import { defined } from '../../defined.ts'
import { hash32 } from '../../engine/random/index.ts'
import { AgogeError } from '../../error.ts'
import { maskSize } from './action-masks.ts'
import type { Context, ContextSpace } from './context.ts'
import type { EnvArrays, EnvironmentDefinition } from './definition.ts'
import type { Info, ResetOptions } from './environment.ts'
import { explainMismatch, type ArraySpace, describeSpace, rowSize, type Space } from './space.ts'
import { flatSpace, flatten, readRow, writeRow } from './space-values.ts'
import type { Autoreset, NamedArrays, VectorEnvironment } from './vector.ts'

/** The fields that all objects of a vector share. */
interface ObjectKind {
  readonly name?: string
  readonly observationSpace: Space
  readonly actionSpace: Space
  readonly contextSpace?: ContextSpace
  actionMask?(): ArrayLike<number>
}

/** Whether the members of the space are rows of numbers of a fixed length. */
export const isArraySpace = (space: Space): space is ArraySpace =>
  space.type === 'box' ||
  space.type === 'discrete' ||
  space.type === 'multi-discrete' ||
  space.type === 'multi-binary'

/** A definition with the name and the spaces of an object. Its functions throw. */
export function objectDefinition(kind: ObjectKind): EnvironmentDefinition {
  for (const field of ['observationSpace', 'actionSpace'] as const) {
    if (typeof kind?.[field]?.type === 'string') continue
    throw new AgogeError(`an environment needs ${field}`, {
      code: 'not-an-environment',
      given: kind?.[field],
      expected: 'an object with observationSpace, actionSpace, reset and step',
    })
  }
  const name = kind.name ?? 'environment'
  if (!isArraySpace(kind.actionSpace)) {
    throw new AgogeError(`actions of ${name} do not fit in a row of numbers`, {
      code: 'not-an-environment',
      given: describeSpace(kind.actionSpace),
      expected: 'a box, discrete, multi-discrete or multi-binary action space',
      hint: 'several choices in one step are a multi-discrete space',
    })
  }
  const refuse = (): never => {
    throw new AgogeError(`${name} is an object of its own, not a definition`, {
      code: 'not-an-environment',
      hint: 'use the vector environment that was made of it',
    })
  }
  return {
    name,
    observation: isArraySpace(kind.observationSpace)
      ? kind.observationSpace
      : flatSpace(kind.observationSpace),
    action: kind.actionSpace,
    context: kind.contextSpace ?? {},
    stateSize: 0,
    reset: refuse,
    step: refuse,
    observe: refuse,
  }
}

/** Checks that the result of an object's call is a record with the fields. `what` names the result in errors. */
function fieldsOf(value: unknown, what: string, fields: readonly string[]): Record<string, unknown> {
  if (value instanceof Promise || (typeof value === 'object' && value !== null && 'then' in value)) {
    throw new AgogeError(`${what} is a promise`, {
      code: 'not-an-environment',
      given: value,
      expected: `an object with ${fields.join(', ')}`,
      hint: 'use asyncVectorFrom for environments whose calls are asynchronous',
    })
  }
  const missing = fields.find((field) => typeof value !== 'object' || value === null || !(field in value))
  if (missing !== undefined) {
    throw new AgogeError(`${what} has no ${missing}`, {
      code: 'bad-step',
      given: value,
      expected: `an object with ${fields.join(', ')}`,
    })
  }
  return value as Record<string, unknown>
}

const notInSpace = (why: string, given: unknown, space: Space): AgogeError =>
  new AgogeError(why, { code: 'not-in-space', given, expected: describeSpace(space) })

/** Options of `vectorFrom` and `openVector`. */
export interface ObjectVectorOptions {
  /** Seed of the first episodes, until a reset gives another one. Default: 0. */
  seed?: number
  /** Default: `same-step`. */
  autoreset?: Autoreset
  /** The context of the next episode of an environment. Default: `reset` gets no context. */
  contextFor?: (envIndex: number, episode: number) => Context
  /** Truncates an episode after this number of steps. The objects may truncate earlier. Default: no limit. */
  maxSteps?: number
  /**
   * The seed for the object of an environment. Default: a hash of both arguments, so that no two pairs share a
   * stream. Gymnasium uses `seed + envIndex`.
   */
  seedFor?: (seed: number, envIndex: number) => number
}

/** The arrays of a vector of objects, and the functions that write the results of `reset` and `step` to them. */
export interface ObjectEnvs {
  readonly arrays: Omit<VectorEnvironment, 'reset' | 'step' | 'truncate' | 'state' | 'restore'>
  /** [numEnvs]: the infos that came with `observations` and `finalObservations`. */
  readonly infos: (Info | undefined)[]
  readonly finalInfos: (Info | undefined)[]
  /** All arrays by name, for saved states. */
  readonly stored: NamedArrays
  /** [numEnvs]: 1 where the episode has ended and the next one has not begun. */
  readonly ended: Uint8Array
  readonly episodes: number[]
  /** [numEnvs]: number of resets so far. */
  readonly resets: Int32Array
  /** [numEnvs]: the seed for the next reset of each environment; NaN for none. */
  readonly seeds: Float64Array
  /** Sets the seed of the next reset of every environment. */
  reseed(seed: number): void
  /** The options for the next reset of an environment. */
  resetOptions(envIndex: number): ResetOptions
  /** Writes the result of a reset. */
  began(envIndex: number, object: ObjectKind, result: unknown): void
  /** Sets return, length, reward and the end flags to 0. */
  startCount(envIndex: number): void
  /** The action of an environment, as a copy that its object may keep. */
  action(envIndex: number): unknown
  /** Writes the result of a step. Returns whether the episode is over. */
  stepped(envIndex: number, object: ObjectKind, result: unknown): boolean
  /** Marks the end of the episode and copies its last observation. */
  end(envIndex: number): void
  /** The error for a step of an environment that was not reset. */
  notReset(envIndex: number): AgogeError
}

/**
 * Allocates the arrays of `count` objects of one kind. Observations of tuples, dicts and texts become flat rows
 * (see `flatten`). The action space must be an array space.
 *
 * @throws AgogeError `not-an-environment`, or `no-flat-size` for observations without a fixed length
 */
export function createObjectEnvs(
  kind: ObjectKind,
  count: number,
  {
    seed: firstSeed = 0,
    autoreset = 'same-step',
    contextFor,
    maxSteps = Infinity,
    seedFor,
  }: ObjectVectorOptions,
): ObjectEnvs {
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new AgogeError('a vector needs environments', {
      code: 'bad-argument',
      given: count,
      expected: 'a positive integer',
    })
  }
  const definition = objectDefinition(kind)
  const { name, observation, action } = definition
  const isRow = isArraySpace(kind.observationSpace)
  const width = rowSize(observation)
  const choices = kind.actionMask === undefined ? 0 : maskSize(name, action)
  const actionWidth = rowSize(action)
  const envs: EnvArrays = {
    count,
    state: new Float64Array(0),
    context: {},
    actions: new Float32Array(count * actionWidth),
    observations: new Float32Array(count * width),
    rewards: new Float64Array(count),
    terminated: new Uint8Array(count),
    actionMask: new Uint8Array(count * choices),
  }
  const finalObservations = new Float32Array(count * width)
  const finalActionMask = new Uint8Array(count * choices)
  const truncated = new Uint8Array(count)
  const returns = new Float64Array(count)
  const lengths = new Int32Array(count)
  const ended = new Uint8Array(count)
  const infos: (Info | undefined)[] = Array.from({ length: count }, () => undefined)
  const finalInfos = [...infos]
  const episodes = infos.map(() => 0)
  /** NaN: the next reset gets no seed. */
  const seeds = new Float64Array(count)
  const resets = new Int32Array(count)
  const seedOf = seedFor ?? ((seed: number, envIndex: number) => hash32('environment', seed, envIndex))
  const { observations, rewards, terminated, actionMask } = envs

  function reseed(seed: number): void {
    for (let i = 0; i < count; i++) {
      seeds[i] = seedOf(seed, i)
      episodes[i] = 0
    }
  }
  reseed(firstSeed)

  function writeObservation(i: number, object: ObjectKind, result: unknown, when: string): void {
    const where = `${name}, environment ${i}, ${when}: observation`
    const { observation: value, info } = fieldsOf(
      result,
      `${name}, environment ${i}, ${when}: what it gave`,
      ['observation'],
    )
    if (isRow) writeRow(observation, value, observations, i * width, where)
    else {
      const why = explainMismatch(kind.observationSpace, value, where)
      if (why !== undefined) throw notInSpace(why, value, kind.observationSpace)
      flatten(kind.observationSpace, value, observations, i * width)
    }
    infos[i] = info as Info | undefined
    if (choices === 0) return
    const mask = object.actionMask?.() ?? []
    if (mask.length !== choices) {
      throw new AgogeError(`${name}, environment ${i}, ${when}: the action mask has ${mask.length} entries`, {
        code: 'shape-mismatch',
        given: mask,
        expected: `${choices} entries, 1 = allowed`,
      })
    }
    for (let a = 0; a < choices; a++) actionMask[i * choices + a] = mask[a] > 0 ? 1 : 0
  }

  function end(i: number): void {
    ended[i] = 1
    for (let k = i * width; k < (i + 1) * width; k++) finalObservations[k] = observations[k]
    for (let k = i * choices; k < (i + 1) * choices; k++) finalActionMask[k] = actionMask[k]
    finalInfos[i] = infos[i]
  }

  return {
    arrays: {
      definition,
      autoreset,
      actions: envs.actions,
      observations,
      finalObservations,
      rewards,
      terminated,
      truncated,
      actionMask,
      finalActionMask,
      returns,
      lengths,
      envs,
    },
    infos,
    finalInfos,
    stored: {
      actions: envs.actions,
      observations,
      finalObservations,
      rewards,
      terminated,
      truncated,
      actionMask,
      finalActionMask,
      returns,
      lengths,
      ended,
      seeds,
      resets,
    },
    ended,
    episodes,
    resets,
    seeds,
    reseed,
    resetOptions(i) {
      const seed = seeds[i]
      seeds[i] = NaN
      resets[i]++
      const context = contextFor?.(i, episodes[i])
      episodes[i]++
      return { ...(Number.isNaN(seed) ? {} : { seed }), ...defined({ context }) }
    },
    began(i, object, result) {
      writeObservation(i, object, result, 'reset')
    },
    startCount(i) {
      returns[i] = 0
      lengths[i] = 0
      ended[i] = 0
      rewards[i] = 0
      terminated[i] = 0
      truncated[i] = 0
    },
    action: (i) => readRow(action, envs.actions, i * actionWidth, `${name}, environment ${i}: the action`),
    stepped(i, object, result) {
      const when = `step ${lengths[i] + 1}`
      writeObservation(i, object, result, when)
      const step = fieldsOf(result, `${name}, environment ${i}, ${when}: what it gave`, [
        'reward',
        'terminated',
        'truncated',
      ])
      const field = (what: string, holds: boolean, expected: string): void => {
        if (holds) return
        throw new AgogeError(`${name}, environment ${i}, ${when}: ${what} is ${String(step[what])}`, {
          code: 'bad-step',
          given: step[what],
          expected,
        })
      }
      field('reward', Number.isFinite(step.reward), 'a finite number')
      field('terminated', typeof step.terminated === 'boolean', 'true or false')
      field('truncated', typeof step.truncated === 'boolean', 'true or false')
      rewards[i] = step.reward as number
      returns[i] += rewards[i]
      const over = ++lengths[i] >= maxSteps
      terminated[i] = step.terminated === true ? 1 : 0
      truncated[i] = over || step.truncated === true ? 1 : 0
      if (terminated[i] === 0 && truncated[i] === 0) return false
      end(i)
      return true
    },
    end,
    notReset: (i) =>
      new AgogeError(`environment ${i} of ${name} has ended and was not reset`, {
        code: 'reset-needed',
        given: 'a step of an ended environment, with autoreset disabled',
        expected: 'reset({ mask }) with 1 for that environment',
      }),
  }
}
