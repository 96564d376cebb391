import { maskSize } from '../action-masks.ts'
import type { AgentArrays, MultiAgentDefinition } from '../multi-agent/index.ts'
import { rowSize } from '../space.ts'
import type { EnvArrays, EnvironmentDefinition } from '../definition.ts'

export type ArrayName = Exclude<keyof AgentArrays, 'count' | 'agents'>
export const arrayNames: readonly ArrayName[] = [
  'state',
  'context',
  'actions',
  'observations',
  'rewards',
  'terminated',
  'agentMask',
  'actionMask',
]

/**
 * An environment of several agents for the checks of environments of one: its functions have the same names and kinds of arguments, its
 * rows are [agents, ...].
 */
export const asDefinition = (definition: MultiAgentDefinition): EnvironmentDefinition =>
  definition as unknown as EnvironmentDefinition

/** The agents of an environment; one where it is not of several. */
export const agentsIn = (definition: EnvironmentDefinition): number =>
  (definition as Partial<Pick<MultiAgentDefinition, 'agents'>>).agents?.length ?? 1

/** `acting` of an environment of several agents. */
export const actingOf = (definition: EnvironmentDefinition): MultiAgentDefinition['acting'] =>
  (definition as Partial<Pick<MultiAgentDefinition, 'acting'>>).acting

/** Numbers a slot of each array. */
export function arrayWidths(definition: EnvironmentDefinition): Readonly<Record<ArrayName, number>> {
  const agents = agentsIn(definition)
  return {
    state: definition.stateSize,
    context: Object.keys(definition.context).length,
    actions: agents * rowSize(definition.action),
    observations: agents * rowSize(definition.observation),
    rewards: agents,
    terminated: 1,
    agentMask: actingOf(definition) === undefined ? 0 : agents,
    actionMask: definition.mask === undefined ? 0 : agents * maskSize(definition.name, definition.action),
  }
}

/** Of an environment of one agent too: `agentMask` is then empty. */
export function allocateArrays(definition: EnvironmentDefinition, count: number): AgentArrays {
  const widths = arrayWidths(definition)
  return {
    count,
    agents: agentsIn(definition),
    state: new Float64Array(count * widths.state),
    context: new Float64Array(count * widths.context),
    actions: new Float32Array(count * widths.actions),
    observations: new Float32Array(count * widths.observations),
    rewards: new Float64Array(count * widths.rewards),
    terminated: new Uint8Array(count),
    agentMask: new Uint8Array(count * widths.agentMask),
    actionMask: new Uint8Array(count * widths.actionMask),
  }
}

/** The arrays of a slot, copied. */
export type EnvRow = Readonly<Record<ArrayName, readonly number[]>>

export function readEnv(definition: EnvironmentDefinition, numEnvs: AgentArrays, i: number): EnvRow {
  const widths = arrayWidths(definition)
  return Object.fromEntries(
    arrayNames.map((name) => [
      name,
      Array.from(numEnvs[name].subarray(i * widths[name], (i + 1) * widths[name])),
    ]),
  ) as unknown as EnvRow
}

/** Writes what follows from the state: observations and masks. */
export function look(definition: EnvironmentDefinition, numEnvs: AgentArrays, i: number): void {
  definition.observe(numEnvs, i)
  lookAtMasks(definition, numEnvs, i)
}

export function lookAtMasks(definition: EnvironmentDefinition, numEnvs: EnvArrays, i: number): void {
  actingOf(definition)?.(numEnvs as AgentArrays, i)
  definition.mask?.(numEnvs, i)
}

/** The first entry in which the rows differ, such as `state[2]`; NaN equals itself. */
export function firstDifference(
  one: EnvRow,
  other: EnvRow,
  names: readonly ArrayName[] = arrayNames,
): string | undefined {
  for (const name of names) {
    const k = one[name].findIndex((value, at) => !Object.is(value + 0, other[name][at] + 0))
    if (k >= 0) return `${name}[${k}]`
  }
  return undefined
}
