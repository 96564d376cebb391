import { forbiddenChoice, sampleMaskOf } from '../action-masks.ts'
import { contextRow } from '../context.ts'
import type { ContextSpace } from '../context.ts'
import { sampleSpace } from '../space-sample.ts'
import { writeRow } from '../space-rows.ts'
import type { WorldStream } from '../world-random.ts'
import { fastStream } from '../world-random.ts'
import type { Slots, World } from '../world.ts'
import { agentsIn, allocateSlots, lookAtMasks } from './slot-arrays.ts'

/** A state that play can come to, the context it was met in, and an action that is allowed there. */
export interface Situation {
  state: Float64Array
  context: Float64Array
  action: Float32Array
  /** Steps from a reset. */
  step: number
}

/** Finite bounds for what is drawn from a range. */
const limit = 1e3

/** A context between the bounds of training, or over all the range that features have. */
export function randomContext(space: ContextSpace, random: WorldStream, wide = false): Float64Array {
  return Float64Array.from(Object.values(space), ({ low, high, extrapolate, integer }) => {
    const [least, most] = wide && extrapolate !== undefined ? extrapolate : [low, high]
    return integer === true
      ? least + random.integers(most - least + 1)
      : random.uniform(Math.max(least, -limit), Math.min(most, limit))
  })
}

/** Writes random actions of slot i that are allowed in its state, of each agent one. */
export function writeRandomAction(world: World, slots: Slots, i: number, random: WorldStream): void {
  const agents = agentsIn(world)
  const rows = slots.count * agents
  const choices = slots.actionMask.length / rows
  for (let k = i * agents; k < (i + 1) * agents; k++) {
    const row = slots.actionMask.subarray(k * choices, (k + 1) * choices)
    const mask = sampleMaskOf(world.action, row)
    const action = sampleSpace(world.action, random, { mask: mask as never })
    writeRow(world.action, action, slots.actions, (k * slots.actions.length) / rows)
  }
}

/** Steps for which an action is kept, drawn from these: some places take persistence. */
const holds = [1, 1, 2, 4, 8, 16]
/** Situations of one context at most. */
const most = 500
/** Parts into which the range of a number of the state, as random play finds it, is cut. */
const parts = 12

/**
 * Situations all over a world: one of those met so far is taken up again and played on from at random (Ecoffet et al.
 * 2021, "First return, then explore"), a rarely tried one or an outermost one, so that goals which random play never sees
 * are found as well. In the default context and in three random ones; `steps` in each. The situations are shuffled.
 */
export function exploreWorld(world: World, random: WorldStream, steps: number): Situation[] {
  const contexts = [
    contextRow(world.context),
    ...[0, 1, 2].map((k) => randomContext(world.context, random, k === 2)),
  ]
  const situations = contexts.flatMap((context) => exploreContext(world, context, random, steps))
  for (let k = situations.length - 1; k > 0; k--) {
    const other = random.integers(k + 1)
    ;[situations[k], situations[other]] = [situations[other], situations[k]]
  }
  return situations
}

function exploreContext(
  world: World,
  context: Float64Array,
  random: WorldStream,
  steps: number,
): Situation[] {
  const slots = allocateSlots(world, 1)
  slots.context.set(context)
  const { offset, scale } = rangesOfPlay(world, slots, random)
  const cells = new Set<string>()
  const direction = new Float64Array(world.stateSize)
  const met: (Situation & { tried: number; cell: number[] })[] = []

  function look(step: number): void {
    lookAtMasks(world, slots, 0)
    const cell = Array.from(slots.state, (x, k) => Math.round((x - offset[k]) * scale[k]))
    const key = cell.join()
    if (cells.has(key)) return
    cells.add(key)
    writeRandomAction(world, slots, 0, random)
    const place = met.length < most ? met.length : random.integers(most)
    met[place] = { state: slots.state.slice(), context, action: slots.actions.slice(), step, tried: 0, cell }
  }

  /** Of some, the outermost in a random direction; or of a few, the one that was tried least. */
  function choose(): (typeof met)[number] {
    let chosen = met[met.length - 1]
    if (random.random() < 0.5) {
      for (let k = 0; k < direction.length; k++) direction[k] = random.normal()
      let furthest = -Infinity
      for (let draw = 0; draw < 60; draw++) {
        const one = met[random.integers(met.length)]
        // Where play leads nowhere, others have their turn.
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
      world.reset(slots, 0, random)
      look(0)
    } else {
      const chosen = choose()
      chosen.tried++
      step = chosen.step
      slots.state.set(chosen.state)
      lookAtMasks(world, slots, 0)
    }
    writeRandomAction(world, slots, 0, random)
    for (let hold = holds[random.integers(holds.length)]; hold > 0; hold--) {
      if (!isAllowed(world, slots)) writeRandomAction(world, slots, 0, random)
      const held = slots.actions.slice()
      taken++
      step++
      world.step(slots, 0, random)
      if (slots.terminated[0] === 1 || slots.state.some(Number.isNaN)) break
      look(step)
      slots.actions.set(held)
    }
  }
  return met
}

/** Where the numbers of the state lie in some random play, and how many cells a unit has. */
function rangesOfPlay(
  world: World,
  slots: Slots,
  random: WorldStream,
): { offset: number[]; scale: number[] } {
  const low = Array.from(slots.state, () => Infinity)
  const high = low.map(() => -Infinity)
  for (let t = 0; t < 200; t++) {
    if (t % 40 === 0 || slots.terminated[0] === 1) world.reset(slots, 0, random)
    slots.terminated[0] = 0
    lookAtMasks(world, slots, 0)
    writeRandomAction(world, slots, 0, random)
    world.step(slots, 0, random)
    slots.state.forEach((x, k) => {
      low[k] = Math.min(low[k], x)
      high[k] = Math.max(high[k], x)
    })
  }
  const spread = high.map((x, k) => (x > low[k] ? x - low[k] : 1))
  // Whole numbers are told apart, however many there are.
  return {
    offset: low,
    scale: spread.map((x) => Math.max(parts / x, Number.isInteger(x) && x < 1000 ? 1 : 0)),
  }
}

/** Whether the actions of slot 0 are; those of agents that are allowed none are not looked at. */
function isAllowed(world: World, { actions, actionMask }: Slots): boolean {
  if (actionMask.length === 0) return true
  const agents = agentsIn(world)
  const [width, choices] = [actions.length / agents, actionMask.length / agents]
  return Array.from({ length: agents }, (_, k) => k).every(
    (k) =>
      forbiddenChoice(world.action, actions, k * width, actionMask, k * choices) < 0 ||
      sampleMaskOf(world.action, actionMask.subarray(k * choices, (k + 1) * choices)) === undefined,
  )
}

/** A stream for a check, and the same one again each time that `again` is called. */
export function repeatable(...keys: [string, ...(string | number)[]]): {
  random: WorldStream
  again: () => WorldStream
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
