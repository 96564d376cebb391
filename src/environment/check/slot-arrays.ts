import { maskSize } from '../action-masks.ts'
import type { AgentSlots, MultiAgentWorld } from '../multi-agent/index.ts'
import { rowSize } from '../space.ts'
import type { Slots, World } from '../world.ts'

export type SlotArray = Exclude<keyof AgentSlots, 'count' | 'agents'>
export const slotArrays: readonly SlotArray[] = [
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
 * A world of several agents for the checks of worlds of one: its functions have the same names and kinds of arguments, its
 * rows are [agents, ...].
 */
export const asWorld = (world: MultiAgentWorld): World => world as unknown as World

/** The agents of a world; one where it is not of several. */
export const agentsIn = (world: World): number =>
  (world as Partial<Pick<MultiAgentWorld, 'agents'>>).agents?.length ?? 1

/** `acting` of a world of several agents. */
export const actingOf = (world: World): MultiAgentWorld['acting'] =>
  (world as Partial<Pick<MultiAgentWorld, 'acting'>>).acting

/** Numbers a slot of each array. */
export function slotWidths(world: World): Readonly<Record<SlotArray, number>> {
  const agents = agentsIn(world)
  return {
    state: world.stateSize,
    context: Object.keys(world.context).length,
    actions: agents * rowSize(world.action),
    observations: agents * rowSize(world.observation),
    rewards: agents,
    terminated: 1,
    agentMask: actingOf(world) === undefined ? 0 : agents,
    actionMask: world.mask === undefined ? 0 : agents * maskSize(world.name, world.action),
  }
}

/** Of a world of one agent too: `agentMask` is then empty. */
export function allocateSlots(world: World, count: number): AgentSlots {
  const widths = slotWidths(world)
  return {
    count,
    agents: agentsIn(world),
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
export type SlotRow = Readonly<Record<SlotArray, readonly number[]>>

export function readSlot(world: World, slots: AgentSlots, i: number): SlotRow {
  const widths = slotWidths(world)
  return Object.fromEntries(
    slotArrays.map((name) => [
      name,
      Array.from(slots[name].subarray(i * widths[name], (i + 1) * widths[name])),
    ]),
  ) as unknown as SlotRow
}

/** Writes what follows from the state: observations and masks. */
export function look(world: World, slots: AgentSlots, i: number): void {
  world.observe(slots, i)
  lookAtMasks(world, slots, i)
}

export function lookAtMasks(world: World, slots: Slots, i: number): void {
  actingOf(world)?.(slots as AgentSlots, i)
  world.mask?.(slots, i)
}

/** The first entry in which the rows differ, such as `state[2]`; NaN equals itself. */
export function firstDifference(
  one: SlotRow,
  other: SlotRow,
  names: readonly SlotArray[] = slotArrays,
): string | undefined {
  for (const name of names) {
    const k = one[name].findIndex((value, at) => !Object.is(value + 0, other[name][at] + 0))
    if (k >= 0) return `${name}[${k}]`
  }
  return undefined
}
