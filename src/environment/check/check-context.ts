import { fastStream } from '../world-random.ts'
import type { World } from '../world.ts'
import type { Findings } from './finding.ts'
import { repeatable, writeRandomAction } from './situations.ts'
import type { Situation } from './situations.ts'
import { allocateSlots, firstDifference, look, lookAtMasks, readSlot } from './slot-arrays.ts'
import type { SlotArray } from './slot-arrays.ts'

/** What a transition or a reset consists of; an observation alone does not count. */
const acting: readonly SlotArray[] = ['state', 'rewards', 'terminated', 'agentMask', 'actionMask']
/** Actions that are tried in each situation; the last two whether they are allowed or not. */
const tries = 5

/**
 * Every context feature changes a reset or a transition: from the same state, with the same action and random numbers,
 * another value of the feature gives another state, reward, end or mask. `observed` are features that are meant to change
 * observations only.
 */
export function checkContext(
  world: World,
  findings: Findings,
  seed: number,
  situations: readonly Situation[],
  observed: readonly string[],
): void {
  Object.entries(world.context).forEach(([name, { low, high, default: usual, extrapolate = [] }], column) => {
    const values = [...new Set([low, high, ...extrapolate, usual])]
    if (values.length === 1) {
      findings.add('context', name, `has the one value ${usual}`)
      return
    }
    const seen = { observation: false }
    if (actsOnReset(world, column, values, seed, seen)) return
    if (actsOnSteps(world, column, values, seed, situations, seen)) return
    if (seen.observation && observed.includes(name)) return
    findings.add(
      'context',
      name,
      seen.observation
        ? 'changes what is observed, but no transition and no reset'
        : `changes nothing: no transition from ${situations.length} states and no reset is another for ${values.join(', ')}`,
    )
  })
}

function actsOnReset(
  world: World,
  column: number,
  values: readonly number[],
  seed: number,
  seen: { observation: boolean },
): boolean {
  const slots = allocateSlots(world, 1)
  const usual = Object.values(world.context).map((feature) => feature.default)
  for (let k = 0; k < 20; k++) {
    const { again } = repeatable('check', 'reset', seed, k)
    const outcome = (value: number) => {
      slots.context.set(usual)
      slots.context[column] = value
      world.reset(slots, 0, again())
      look(world, slots, 0)
      return readSlot(world, slots, 0)
    }
    const first = outcome(values[0])
    for (const value of values.slice(1)) {
      const other = outcome(value)
      if (firstDifference(first, other, ['state', 'agentMask', 'actionMask']) !== undefined) return true
      seen.observation ||= firstDifference(first, other, ['observations']) !== undefined
    }
  }
  return false
}

function actsOnSteps(
  world: World,
  column: number,
  values: readonly number[],
  seed: number,
  situations: readonly Situation[],
  seen: { observation: boolean },
): boolean {
  const slots = allocateSlots(world, 1)
  const choice = fastStream('check', 'context', seed)
  for (const [at, { state, context, action }] of situations.entries()) {
    for (let k = 0; k < tries; k++) {
      slots.context.set(context)
      slots.state.set(state)
      slots.actions.set(action)
      if (k > 0) {
        slots.actionMask.fill(1)
        if (k < tries - 2) lookAtMasks(world, slots, 0)
        writeRandomAction(world, slots, 0, choice)
      }
      const taken = slots.actions.slice()
      const { again } = repeatable('check', 'step', seed, at, k)
      const outcome = (value: number) => {
        slots.context.set(context)
        slots.context[column] = value
        slots.state.set(state)
        slots.actions.set(taken)
        world.step(slots, 0, again())
        look(world, slots, 0)
        return readSlot(world, slots, 0)
      }
      try {
        const first = outcome(context[column])
        for (const value of values) {
          if (value === context[column]) continue
          const other = outcome(value)
          if (firstDifference(first, other, acting) !== undefined) return true
          seen.observation ||= firstDifference(first, other, ['observations']) !== undefined
        }
      } catch {
        // A state of one context may make no sense in another, as where a wall stands now.
      }
    }
  }
  return false
}
