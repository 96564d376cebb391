import { AgogeError } from '../../../error.ts'
import { maskSize } from '../action-masks.ts'
import { contextRow } from '../context.ts'
import { rowSize } from '../space.ts'
import { restoreArrays, saveArrays } from '../stored-arrays.ts'
import type { Autoreset, VectorOptions, VectorState } from '../vector.ts'
import { fastStream } from '../environment-random.ts'
import type { AgentArrays, MultiAgentDefinition } from './definition.ts'

/**
 * Many copies of an environment of several agents, stepped together: a `VectorEnvironment` whose rows are [slot, agent]. The
 * arrays belong to the environment and are overwritten by each call; nothing is allocated.
 */
export interface MultiAgentVector {
  readonly definition: MultiAgentDefinition
  readonly autoreset: Autoreset
  /** [slots, agents, rowSize(action)]: write here, then `step()`. */
  readonly actions: Float32Array
  /** [slots, agents, rowSize(observation)]. */
  readonly observations: Float32Array
  /** Where a slot has just ended: its last observations, before any reset. */
  readonly finalObservations: Float32Array
  /** [slots, agents]. */
  readonly rewards: Float64Array
  /** [slots]. */
  readonly terminated: Uint8Array
  /** [slots]. */
  readonly truncated: Uint8Array
  /** [slots, agents]: 1 for those who act in the next step. */
  readonly agentMask: Uint8Array
  /** [slots, agents, n]: 1 = allowed; empty where the environment has no masks. */
  readonly actionMask: Uint8Array
  /** [slots, agents]. Of the episode that a slot is in; where it has just ended, of that one. */
  readonly returns: Float64Array
  /** [slots]. */
  readonly lengths: Int32Array
  readonly numEnvs: AgentArrays
  /** Begins new episodes: everywhere, or where `mask` is 1. With a seed all streams start anew first. */
  reset(options?: { seed?: number; mask?: Uint8Array }): void
  step(): void
  /** Everything needed to go on exactly here, as structured-cloneable data. */
  state(): VectorState
  restore(state: VectorState): void
}

/** Makes `slots` copies of an environment of several agents. Call `reset` first. */
export function createMultiAgentVector(
  definition: MultiAgentDefinition,
  options: VectorOptions,
): MultiAgentVector {
  const {
    numEnvs: count,
    autoreset = 'same-step',
    contextFor,
    maxSteps = definition.maxSteps ?? Infinity,
  } = options
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new AgogeError('a vector environment needs slots', {
      code: 'bad-argument',
      given: count,
      expected: 'a positive integer',
    })
  }
  const agents = definition.agents.length
  const width = agents * rowSize(definition.observation)
  const choices = definition.mask === undefined ? 0 : maskSize(definition.name, definition.action)
  const features = Object.keys(definition.context).length
  const numEnvs: AgentArrays = {
    count,
    agents,
    state: new Float64Array(count * definition.stateSize),
    context: new Float64Array(count * features),
    actions: new Float32Array(count * agents * rowSize(definition.action)),
    observations: new Float32Array(count * width),
    rewards: new Float64Array(count * agents),
    terminated: new Uint8Array(count),
    agentMask: new Uint8Array(count * agents).fill(1),
    actionMask: new Uint8Array(count * agents * choices),
  }
  const finalObservations = new Float32Array(count * width)
  const truncated = new Uint8Array(count)
  const returns = new Float64Array(count * agents)
  const lengths = new Int32Array(count)
  /** 1 where the slot has ended and not begun again. */
  const ended = new Uint8Array(count)
  const makeStream =
    options.stream ?? ((seed, envIndex) => fastStream('world', definition.name, seed, envIndex))
  let streams = Array.from({ length: count }, (_, i) => makeStream(options.seed ?? 0, i))
  let episodes = Array.from({ length: count }, () => 0)
  let begun = false
  const { rewards, terminated, observations } = numEnvs

  function look(i: number): void {
    definition.observe(numEnvs, i)
    definition.acting?.(numEnvs, i)
    definition.mask?.(numEnvs, i)
  }

  function begin(i: number): void {
    if (contextFor !== undefined || episodes[i] === 0)
      numEnvs.context.set(
        contextRow(definition.context, contextFor?.(i, episodes[i]), definition.name),
        i * features,
      )
    episodes[i]++
    definition.reset(numEnvs, i, streams[i])
    look(i)
  }

  /** A new count starts when the next step is counted, so that the figures of an ended episode can be read. */
  function startCount(i: number): void {
    for (let k = i * agents; k < (i + 1) * agents; k++) returns[k] = 0
    lengths[i] = 0
    ended[i] = 0
  }

  function clear(i: number): void {
    for (let k = i * agents; k < (i + 1) * agents; k++) rewards[k] = 0
    terminated[i] = 0
    truncated[i] = 0
  }

  const { count: _, agents: __, ...written } = numEnvs
  const stored = { ...written, finalObservations, truncated, returns, lengths, ended }

  return {
    definition,
    autoreset,
    actions: numEnvs.actions,
    observations,
    finalObservations,
    rewards,
    terminated,
    truncated,
    agentMask: numEnvs.agentMask,
    actionMask: numEnvs.actionMask,
    returns,
    lengths,
    numEnvs,
    reset({ seed, mask: which } = {}) {
      if (seed !== undefined) {
        streams = streams.map((_, i) => makeStream(seed, i))
        episodes = episodes.map(() => 0)
      }
      for (let i = 0; i < count; i++) {
        if (which !== undefined && which[i] !== 1) continue
        begin(i)
        startCount(i)
        clear(i)
      }
      begun = true
    },
    step() {
      if (!begun) throw resetNeeded(`${definition.name} was stepped before it was reset`)
      for (let i = 0; i < count; i++) {
        if (ended[i] === 1) {
          if (autoreset === 'disabled') throw resetNeeded(`slot ${i} of ${definition.name} has ended`)
          startCount(i)
          if (autoreset === 'next-step') {
            begin(i)
            clear(i)
            continue
          }
        }
        definition.step(numEnvs, i, streams[i])
        for (let k = i * agents; k < (i + 1) * agents; k++) returns[k] += rewards[k]
        const over = ++lengths[i] >= maxSteps
        truncated[i] = over ? 1 : 0
        look(i)
        if (over || terminated[i] === 1) {
          ended[i] = 1
          for (let k = i * width; k < (i + 1) * width; k++) finalObservations[k] = observations[k]
          if (autoreset === 'same-step') begin(i)
        }
      }
    },
    state: () => ({
      arrays: saveArrays(stored),
      streams: streams.map((stream) => stream.state()),
      episodes: [...episodes],
    }),
    restore(state) {
      restoreArrays(definition.name, stored, state.arrays)
      streams.forEach((stream, i) => stream.restore(state.streams[i]))
      episodes = [...state.episodes]
      begun = true
    },
  }
}

const resetNeeded = (message: string): AgogeError =>
  new AgogeError(message, { code: 'reset-needed', hint: 'call reset() first' })
