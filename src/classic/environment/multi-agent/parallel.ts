import type { EnvironmentOptions } from '../create-environment.ts'
import { numpyEnvStream } from '../numpy-stream.ts'
import { readRow, writeRow } from '../space-rows.ts'
import { rowSize } from '../space.ts'
import type { ArraySpace, Member } from '../space.ts'
import { checkActors, checkMove } from './check-move.ts'
import type { ByAgent, ParallelEnvironment, ParallelReset } from './environment.ts'
import { createMultiAgentVector } from './vector.ts'
import type { MultiAgentVector } from './vector.ts'
import type { MultiAgentDefinition } from './definition.ts'

/** An environment of several agents as one environment. */
export interface DefinedParallelEnvironment extends ParallelEnvironment<ArraySpace, ArraySpace> {
  readonly name: string
  readonly definition: MultiAgentDefinition
  /** The vector of one slot that this environment is. */
  readonly vector: MultiAgentVector
}

/**
 * The parallel form of an environment. `step` throws an AgogeError and leaves all as it was: `reset-needed`, `missing-action`,
 * `not-acting`, `not-in-space`, and `invalid-action` for a move that is not allowed.
 */
export function createParallelEnvironment(
  definition: MultiAgentDefinition,
  options: EnvironmentOptions = {},
): DefinedParallelEnvironment {
  let context = options.context ?? {}
  const { maxSteps, seeding, seed: firstSeed } = options
  const vector = createMultiAgentVector(definition, {
    numEnvs: 1,
    autoreset: 'disabled',
    contextFor: () => context,
    ...(firstSeed === undefined ? {} : { seed: firstSeed }),
    ...(maxSteps === undefined ? {} : { maxSteps }),
    ...(seeding === 'numpy' ? { stream: numpyEnvStream } : {}),
  })
  const { agents, name, action: actionSpace, observation: observationSpace } = definition
  const masked = vector.actionMask.length > 0
  let acting: readonly string[] = []

  const byAgent = <T>(value: (agent: number) => T): ByAgent<T> =>
    Object.fromEntries(agents.map((agent, k) => [agent, value(k)]))
  const maskOf = (agent: number): Uint8Array => {
    const choices = vector.actionMask.length / agents.length
    return vector.actionMask.slice(agent * choices, (agent + 1) * choices)
  }
  function look(over: boolean): ParallelReset<ArraySpace> {
    acting = over ? [] : agents.filter((_, k) => vector.agentMask[k] === 1)
    const observe = (k: number): Member<ArraySpace> =>
      readRow(observationSpace, vector.observations, k * rowSize(observationSpace))
    return { observations: byAgent(observe), acting }
  }

  return {
    name,
    agents,
    observationSpace,
    actionSpace,
    contextSpace: definition.context,
    definition,
    vector,
    reset({ seed, context: given = options.context ?? {} } = {}) {
      context = given
      vector.reset(seed === undefined ? {} : { seed })
      return look(false)
    },
    step(actions) {
      checkActors(name, acting, actions)
      for (const agent of acting) {
        const mask = masked ? maskOf(agents.indexOf(agent)) : undefined
        checkMove(name, agent, actionSpace, actions[agent], mask)
      }
      for (const agent of acting) {
        const offset = agents.indexOf(agent) * rowSize(actionSpace)
        writeRow(actionSpace, actions[agent], vector.actions, offset, `the action of ${agent} in ${name}`)
      }
      vector.step()
      const [terminated, truncated] = [vector.terminated[0] === 1, vector.truncated[0] === 1]
      return {
        ...look(terminated || truncated),
        rewards: byAgent((k) => vector.rewards[k]),
        terminated,
        truncated,
      }
    },
    ...(masked ? { actionMask: (agent: string) => maskOf(agents.indexOf(agent)) } : {}),
  }
}
