import { forbiddenChoice, maskSize, sampleMaskOf } from '../action-masks.ts'
import { contextColumns, contextRow, type ContextSpace, readContext, writeContext } from '../context.ts'
import type { EnvArrays, EnvironmentDefinition } from '../definition.ts'
import { type EnvironmentStream, fastStream } from '../environment-random.ts'
import { sampleSpace } from '../space-sample.ts'
import { writeRow } from '../space-values.ts'
import { rowSize } from '../space.ts'

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

/** Length of a row in each array. */
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

/** Copies of the arrays of environment i, with the context as a row. */
export type EnvRow = Readonly<Record<ArrayName, readonly number[]>>

export function readEnv(definition: EnvironmentDefinition, envs: EnvArrays, i: number): EnvRow {
  const widths = arrayWidths(definition)
  const rowOf = (name: ArrayName) =>
    name === 'context'
      ? readContext(envs.context, i)
      : envs[name].subarray(i * widths[name], (i + 1) * widths[name])
  return Object.fromEntries(
    arrayNames.map((name) => [name, Array.from<number>(rowOf(name))]),
  ) as unknown as EnvRow
}

/** Writes what depends on the state: observations and masks. */
export function look(definition: EnvironmentDefinition, envs: EnvArrays, i: number): void {
  definition.observe(envs, i)
  definition.mask?.(envs, i)
}

/** The first entry in which two rows differ, such as `state[2]`, or undefined. NaN equals itself. */
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

/** A reachable state, the context in which it was reached, and an action that it allows. */
export interface Situation {
  state: Float64Array
  context: Float64Array
  action: Float32Array
  /** Number of steps since the reset. */
  step: number
}

/** Finite bounds for sampling from a range. */
const limit = 1e3

/** A context from the range of training, or from the whole range of the features. */
export function randomContext(space: ContextSpace, random: EnvironmentStream, wide = false): Float64Array {
  return Float64Array.from(Object.values(space), ({ low, high, extrapolate, integer }) => {
    const [least, most] = wide && extrapolate !== undefined ? extrapolate : [low, high]
    return integer === true
      ? least + random.integers(most - least + 1)
      : random.uniform(Math.max(least, -limit), Math.min(most, limit))
  })
}

/** Writes a random action for environment i that its state allows. */
export function writeRandomAction(
  { action: space }: EnvironmentDefinition,
  { actions, actionMask, count }: EnvArrays,
  i: number,
  random: EnvironmentStream,
): void {
  const choices = actionMask.length / count
  const mask = sampleMaskOf(space, actionMask.subarray(i * choices, (i + 1) * choices))
  writeRow(space, sampleSpace(space, random, { mask: mask as never }), actions, (i * actions.length) / count)
}

/** Numbers of steps for which an action is repeated. Some states are only reached by repetition. */
const holds = [1, 1, 2, 4, 8, 16]
/** Maximum number of situations in one context. */
const most = 500
/** Number of cells into which the range of a state variable is divided. Random play determines the range. */
const parts = 12

/**
 * Samples situations from the whole state space. It repeatedly returns to a known situation, a rarely tried or
 * an outermost one, and plays on randomly (Ecoffet et al. 2021, "First return, then explore"). So it finds
 * goals that random play alone never reaches. Explores the default context and three random ones, with `steps`
 * in each. The situations are shuffled.
 */
export function exploreEnvironment(
  definition: EnvironmentDefinition,
  random: EnvironmentStream,
  steps: number,
): Situation[] {
  const contexts = [
    contextRow(definition.context),
    ...[0, 1, 2].map((k) => randomContext(definition.context, random, k === 2)),
  ]
  const situations = contexts.flatMap((context) => exploreContext(definition, context, random, steps))
  for (let k = situations.length - 1; k > 0; k--) {
    const other = random.integers(k + 1)
    ;[situations[k], situations[other]] = [situations[other], situations[k]]
  }
  return situations
}

function exploreContext(
  definition: EnvironmentDefinition,
  context: Float64Array,
  random: EnvironmentStream,
  steps: number,
): Situation[] {
  const envs = allocateArrays(definition, 1)
  writeContext(envs.context, 0, context)
  const { offset, scale } = rangesOfPlay(definition, envs, random)
  const cells = new Set<string>()
  const direction = new Float64Array(definition.stateSize)
  const met: (Situation & { tried: number; cell: number[] })[] = []

  function look(step: number): void {
    definition.mask?.(envs, 0)
    const cell = Array.from(envs.state, (x, k) => Math.round((x - offset[k]) * scale[k]))
    const key = cell.join()
    if (cells.has(key)) return
    cells.add(key)
    writeRandomAction(definition, envs, 0, random)
    const place = met.length < most ? met.length : random.integers(most)
    met[place] = {
      state: envs.state.slice(),
      context,
      action: envs.actions.slice(),
      step,
      tried: 0,
      cell,
    }
  }

  /** Among some situations, the outermost one in a random direction; or among a few, the least tried one. */
  function choose(): (typeof met)[number] {
    let chosen = met[met.length - 1]
    if (random.random() < 0.5) {
      for (let k = 0; k < direction.length; k++) direction[k] = random.normal()
      let furthest = -Infinity
      for (let draw = 0; draw < 60; draw++) {
        const one = met[random.integers(met.length)]
        // If play leads nowhere new, continue from another situation.
        let distance = -one.tried
        for (let k = 0; k < direction.length; k++) distance += one.cell[k] * direction[k]
        if (distance <= furthest) continue
        furthest = distance
        chosen = one
      }
      return chosen
    }
    for (let draw = 0; draw < 4; draw++) {
      const other = met[random.integers(met.length)]
      if (other.tried < chosen.tried) chosen = other
    }
    return chosen
  }

  let taken = 0
  while (taken < steps) {
    let step = 0
    if (met.length === 0 || random.random() < 0.2) {
      taken++
      definition.reset(envs, 0, random)
      look(0)
    } else {
      const chosen = choose()
      chosen.tried++
      step = chosen.step
      envs.state.set(chosen.state)
      definition.mask?.(envs, 0)
    }
    writeRandomAction(definition, envs, 0, random)
    for (let hold = holds[random.integers(holds.length)]; hold > 0; hold--) {
      if (!isAllowed(definition, envs)) writeRandomAction(definition, envs, 0, random)
      const action = envs.actions.slice()
      taken++
      step++
      definition.step(envs, 0, random)
      if (envs.terminated[0] === 1 || envs.state.some(Number.isNaN)) break
      look(step)
      envs.actions.set(action)
    }
  }
  return met
}

/** The range of each state variable in random play, and the number of cells for each unit. */
function rangesOfPlay(
  definition: EnvironmentDefinition,
  envs: EnvArrays,
  random: EnvironmentStream,
): { offset: number[]; scale: number[] } {
  const low = Array.from(envs.state, () => Infinity)
  const high = low.map(() => -Infinity)
  for (let t = 0; t < 200; t++) {
    if (t % 40 === 0 || envs.terminated[0] === 1) definition.reset(envs, 0, random)
    envs.terminated[0] = 0
    definition.mask?.(envs, 0)
    writeRandomAction(definition, envs, 0, random)
    definition.step(envs, 0, random)
    envs.state.forEach((x, k) => {
      low[k] = Math.min(low[k], x)
      high[k] = Math.max(high[k], x)
    })
  }
  const spread = high.map((x, k) => (x > low[k] ? x - low[k] : 1))
  // Integers always get separate cells.
  return {
    offset: low,
    scale: spread.map((x) => Math.max(parts / x, Number.isInteger(x) && x < 1000 ? 1 : 0)),
  }
}

/** Whether environment 0 accepts the action. */
const isAllowed = ({ action }: EnvironmentDefinition, { actions, actionMask }: EnvArrays): boolean =>
  actionMask.length === 0 ||
  forbiddenChoice(action, actions, 0, actionMask, 0) < 0 ||
  sampleMaskOf(action, actionMask) === undefined

/** A random stream for a check. Calling `again` restarts it. */
export function repeatable(...keys: [string, ...(string | number)[]]): {
  random: EnvironmentStream
  again: () => EnvironmentStream
} {
  const random = fastStream(...keys)
  const state = random.state()
  return {
    random,
    again() {
      random.restore(state)
      return random
    },
  }
}
