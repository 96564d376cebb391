import { maskSize } from '../action-masks.ts'
import { rowSize } from '../space.ts'
import type { Slots, World } from '../world.ts'

export type SlotArray = Exclude<keyof Slots, 'count'>
export const slotArrays: readonly SlotArray[] = [
  'state',
  'context',
  'actions',
  'observations',
  'rewards',
  'terminated',
  'actionMask',
]

/** Numbers a slot of each array. */
export function slotWidths(world: World): Readonly<Record<SlotArray, number>> {
  return {
    state: world.stateSize,
    context: Object.keys(world.context).length,
    actions: rowSize(world.action),
    observations: rowSize(world.observation),
    rewards: 1,
    terminated: 1,
    actionMask: world.mask === undefined ? 0 : maskSize(world.name, world.action),
  }
}

export function allocateSlots(world: World, count: number): Slots {
  const widths = slotWidths(world)
  return {
    count,
    state: new Float64Array(count * widths.state),
    context: new Float64Array(count * widths.context),
    actions: new Float32Array(count * widths.actions),
    observations: new Float32Array(count * widths.observations),
    rewards: new Float64Array(count),
    terminated: new Uint8Array(count),
    actionMask: new Uint8Array(count * widths.actionMask),
  }
}

/** The arrays of a slot, copied. */
export type SlotRow = Readonly<Record<SlotArray, readonly number[]>>

export function readSlot(world: World, slots: Slots, i: number): SlotRow {
  const widths = slotWidths(world)
  return Object.fromEntries(
    slotArrays.map((name) => [
      name,
      Array.from(slots[name].subarray(i * widths[name], (i + 1) * widths[name])),
    ]),
  ) as unknown as SlotRow
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
