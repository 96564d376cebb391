import { maskSize } from '../action-masks.ts'
import { contextColumns, readContext } from '../context.ts'
import { rowSize } from '../space.ts'
import type { EnvArrays, EnvironmentDefinition } from '../definition.ts'

export type ArrayName = Exclude<keyof EnvArrays, 'count'>
export const arrayNames: readonly ArrayName[] = [
  'state',
  'context',
  'actions',
  'observations',
  'rewards',
  'terminated',
  'actionMask',
]

/** Numbers an environment has in each array. */
export const arrayWidths = (definition: EnvironmentDefinition): Readonly<Record<ArrayName, number>> => ({
  state: definition.stateSize,
  context: Object.keys(definition.context).length,
  actions: rowSize(definition.action),
  observations: rowSize(definition.observation),
  rewards: 1,
  terminated: 1,
  actionMask: definition.mask === undefined ? 0 : maskSize(definition.name, definition.action),
})

export function allocateArrays(definition: EnvironmentDefinition, count: number): EnvArrays {
  const widths = arrayWidths(definition)
  return {
    count,
    state: new Float64Array(count * widths.state),
    context: contextColumns(definition.context, count),
    actions: new Float32Array(count * widths.actions),
    observations: new Float32Array(count * widths.observations),
    rewards: new Float64Array(count),
    terminated: new Uint8Array(count),
    actionMask: new Uint8Array(count * widths.actionMask),
  }
}

/** The arrays of environment i, copied; the context as a row. */
export type EnvRow = Readonly<Record<ArrayName, readonly number[]>>

export function readEnv(definition: EnvironmentDefinition, numEnvs: EnvArrays, i: number): EnvRow {
  const widths = arrayWidths(definition)
  const rowOf = (name: ArrayName) =>
    name === 'context'
      ? readContext(numEnvs.context, i)
      : numEnvs[name].subarray(i * widths[name], (i + 1) * widths[name])
  return Object.fromEntries(
    arrayNames.map((name) => [name, Array.from<number>(rowOf(name))]),
  ) as unknown as EnvRow
}

/** Writes what follows from the state: observations and masks. */
export function look(definition: EnvironmentDefinition, numEnvs: EnvArrays, i: number): void {
  definition.observe(numEnvs, i)
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
