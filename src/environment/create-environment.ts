import { AgogeError } from '../error.ts'
import { contextRow } from './context.ts'
import type { Context, ContextSpace } from './context.ts'
import type { Environment, Info, ResetOptions, ResetResult, StepResult } from './environment.ts'
import { numpySlotStream } from './numpy-stream.ts'
import { explainMismatch } from './space-contains.ts'
import { describeSpace } from './space-describe.ts'
import { readRow, writeRow } from './space-rows.ts'
import type { ArraySpace, Member } from './space.ts'
import { createVectorEnvironment } from './vector.ts'
import type { VectorEnvironment, VectorState } from './vector.ts'
import type { World } from './world.ts'

export interface EnvironmentOptions {
  /** Of the stream until a reset brings one. Default 0. */
  seed?: number
  /** The context of episodes whose reset brings none. Default: the defaults of the world. */
  context?: Context
  /** Instead of the world's own limit; Infinity for none. */
  maxSteps?: number
  /** `numpy`: chance as in Gymnasium, for parity. Default `fast`. */
  seeding?: 'fast' | 'numpy'
}

/** A world as one environment. */
export interface WorldEnvironment extends Environment<ArraySpace, ArraySpace> {
  readonly name: string
  readonly contextSpace: ContextSpace
  readonly world: World
  /** The vector of one slot that this environment is: for drawing, and for worlds' own functions. */
  readonly vector: VectorEnvironment
  /** With `options: { state }`, the episode begins in that row of the world's state instead of a random one. */
  reset(options?: ResetOptions): Required<ResetResult<Member<ArraySpace>>>
  /** Takes a number for a discrete action or a box of one number, else an array of numbers. */
  step(action: Member<ArraySpace> | number[]): Required<StepResult<Member<ArraySpace>>>
  state(): VectorState
  restore(state: unknown): void
}

/**
 * One environment out of a world, with Gymnasium's semantics: a seed is given once and the stream then goes on; the time
 * limit truncates, also an episode that terminates in the same step; observations are fresh copies (numbers where they
 * are discrete). `info` has `actionMask` for worlds with masks, and at the end of an episode its `return` and `length`.
 *
 * `step` throws an AgogeError: `reset-needed` before the first reset and after the end, and, naming world, step and field,
 * `shape-mismatch`, `not-a-number`, or `not-in-space` for a choice that does not exist. Bounds of a box are left to the world,
 * as in Gymnasium, where some worlds clip and others do not; loops that train and evaluate hold agents to them.
 */
export function createEnvironment(world: World, options: EnvironmentOptions = {}): WorldEnvironment {
  let context = options.context ?? {}
  const { maxSteps, seeding, seed: firstSeed } = options
  const vector = createVectorEnvironment(world, {
    slots: 1,
    autoreset: 'disabled',
    contextFor: () => context,
    ...(firstSeed === undefined ? {} : { seed: firstSeed }),
    ...(maxSteps === undefined ? {} : { maxSteps }),
    ...(seeding === 'numpy' ? { stream: numpySlotStream } : {}),
  })
  const { slots, rewards, terminated, truncated } = vector
  const masked = slots.actionMask.length > 0
  const info = (): Info => (masked ? { actionMask: slots.actionMask.slice() } : {})

  return {
    name: world.name,
    observationSpace: world.observation,
    actionSpace: world.action,
    contextSpace: world.context,
    world,
    vector,
    reset({ seed, context: given = options.context ?? {}, options: more = {} } = {}) {
      contextRow(world.context, given, world.name)
      context = given
      vector.reset(seed === undefined ? {} : { seed })
      if (more.state !== undefined) setState(vector, more.state)
      return { observation: readRow(world.observation, vector.observations), info: info() }
    },
    step(action) {
      writeAction(vector, action)
      vector.step()
      const over = terminated[0] === 1 || truncated[0] === 1
      return {
        observation: readRow(world.observation, vector.observations),
        reward: rewards[0],
        terminated: terminated[0] === 1,
        truncated: truncated[0] === 1,
        info: over ? { ...info(), return: vector.returns[0], length: vector.lengths[0] } : info(),
      }
    },
    ...(masked ? { actionMask: () => slots.actionMask.slice() } : {}),
    state: () => vector.state(),
    restore: (state) => vector.restore(state as VectorState),
  }
}

function writeAction({ world, actions, lengths }: VectorEnvironment, action: unknown): void {
  const { name, action: space } = world
  if (space.type === 'discrete') {
    const choice = action as number
    if (Number.isInteger(choice) && choice >= space.start && choice < space.start + space.n) {
      actions[0] = choice
      return
    }
  }
  const what = `${name}, step ${lengths[0] + 1}: action`
  const why = space.type === 'box' ? undefined : explainMismatch(space, action, what)
  if (why !== undefined)
    throw new AgogeError(why, { code: 'not-in-space', given: action, expected: describeSpace(space) })
  writeRow(space, action, actions, 0, what)
}

function setState({ world, slots }: VectorEnvironment, given: unknown): void {
  const state = given as ArrayLike<number>
  if (
    state.length !== world.stateSize ||
    Array.from(state).some((x) => typeof x !== 'number' || Number.isNaN(x))
  ) {
    throw new AgogeError(`options.state is no state of ${world.name}`, {
      code: 'shape-mismatch',
      given,
      expected: `${world.stateSize} numbers`,
    })
  }
  slots.state.set(state)
  world.observe(slots, 0)
  world.mask?.(slots, 0)
}
