import { AgogeError } from '../../error.ts'
import {
  type AnyVector,
  type ArraySpace,
  type BoxSpace,
  choiceCounts,
  describeSpace,
  forbiddenChoice,
  hasIntegers,
} from '../environment/index.ts'

const bits: number[] = [2]

/** Index of the first of `values` (rows of a discrete space) that is outside the space; -1 if all are inside. */
function firstOutside(
  space: Exclude<ArraySpace, { type: 'box' }>,
  values: ArrayLike<number>,
  from = 0,
  to = values.length,
): number {
  if (space.type === 'discrete') {
    const { start, n } = space
    for (let k = from; k < to; k++)
      if (!(values[k] >= start && values[k] < start + n && values[k] === Math.floor(values[k]))) return k
    return -1
  }
  const counts = space.type === 'multi-discrete' ? space.counts : bits
  for (let k = from; k < to; k++)
    if (!(values[k] >= 0 && values[k] < counts[k % counts.length] && values[k] === Math.floor(values[k])))
      return k
  return -1
}

/**
 * Checks observed choices. They index one-hot rows and tables, where a number outside the space would hit another
 * row.
 *
 * @throws AgogeError `not-in-space`, naming environment, step, index and field.
 */
function checkObservedChoices(environment: AnyVector, step: number): void {
  const { definition, observations, finalObservations, terminated, truncated } = environment
  const space = definition.observation
  if (space.type === 'box') return
  const width = observations.length / terminated.length
  for (let i = 0; i < terminated.length; i++) {
    if (terminated[i] + truncated[i] === 0) continue
    const k = firstOutside(space, finalObservations, i * width, (i + 1) * width)
    if (k >= 0) throw notObserved(environment, step, 'finalObservations', finalObservations, k)
  }
  const k = firstOutside(space, observations)
  if (k >= 0) throw notObserved(environment, step, 'observations', observations, k)
}

/**
 * Checks that the mask of an episode that continues allows an action.
 *
 * @throws AgogeError `no-action`, naming environment, step and index, if a mask leaves a number of the action no
 * choice.
 */
function checkAllowed(
  { definition, actionMask, terminated, truncated, autoreset }: AnyVector,
  step: number,
): void {
  if (actionMask.length === 0) return
  const counts = choiceCounts(definition.action)
  let at = 0
  for (let envIndex = 0; envIndex < terminated.length; envIndex++) {
    const isOver = terminated[envIndex] + truncated[envIndex] > 0 && autoreset !== 'same-step'
    for (let k = 0; k < counts.length; k++) {
      const next = at + counts[k]
      let isAllowed = isOver
      while (at < next) isAllowed = actionMask[at++] === 1 || isAllowed
      if (!isAllowed)
        throw noneAllowed(
          definition,
          step,
          envIndex,
          counts.length > 1 ? `number ${k} of the action` : 'the action',
        )
    }
  }
}

function notObserved(
  { definition, rewards }: AnyVector,
  step: number,
  array: string,
  values: Float32Array,
  k: number,
): AgogeError {
  const width = values.length / rewards.length
  const envIndex = Math.floor(k / width)
  const field = `${array}[${k % width}]`
  return new AgogeError(
    `${definition.name} showed what is not in its observation space at step ${step}: ${field} of environment ${envIndex} is ${values[k]}`,
    {
      code: 'not-in-space',
      given: { environment: definition.name, step, envIndex, field, value: String(values[k]) },
      expected: `a member of ${describeSpace(definition.observation)}`,
      hint: 'discrete(n) has the numbers 0 to n - 1, discrete(n, start) those from start on',
    },
  )
}

const noneAllowed = ({ name }: { name: string }, step: number, envIndex: number, what: string): AgogeError =>
  new AgogeError(
    `${name} allows nothing at step ${step}: the mask of environment ${envIndex} has no choice for ${what}`,
    {
      code: 'no-action',
      given: { environment: name, step, envIndex, field: 'actionMask' },
      expected: 'at least one entry of 1 in every state in which the episode continues',
      hint: 'End the episode (terminated) if no action is possible, or allow an action without effect',
    },
  )

/**
 * Checks what the last step returned: numbers are finite, observed choices are in their space, and the mask allows
 * an action. A bad number stops the run before it reaches the weights.
 *
 * @param step step of the environment, for the message.
 * @throws AgogeError `not-finite`, `not-in-space` or `no-action`, naming environment, step, index and field.
 */
export function checkStep(environment: AnyVector, step: number): void {
  const { observations, finalObservations, rewards, terminated, truncated } = environment
  const width = observations.length / rewards.length
  for (let i = 0; i < rewards.length; i++) {
    if (!(Math.abs(rewards[i]) < Infinity)) throw notFinite(environment, step, 'rewards', i, rewards[i])
    // When an episode has ended, its row may already show the next episode.
    if (terminated[i] + truncated[i] === 0) continue
    for (let k = i * width; k < (i + 1) * width; k++)
      if (!(Math.abs(finalObservations[k]) < Infinity))
        throw notFinite(environment, step, `finalObservations[${k % width}]`, i, finalObservations[k])
  }
  for (let k = 0; k < observations.length; k++) {
    if (Math.abs(observations[k]) < Infinity) continue
    throw notFinite(environment, step, `observations[${k % width}]`, Math.floor(k / width), observations[k])
  }
  checkObservedChoices(environment, step)
  checkAllowed(environment, step)
}

/**
 * Checks that the actions are in the action space, before the environment steps with them. Learners clip samples
 * of unbounded distributions (`clipActionRows`). A rounding error at a bound is accepted.
 *
 * @param step step of the environment that is about to be taken, for the message.
 * @throws AgogeError `not-in-space` or `masked-action`, naming environment, step, index and field.
 */
export function checkActions(environment: AnyVector, step: number): void {
  const { actions, definition } = environment
  const { action } = definition
  switch (action.type) {
    case 'box': {
      const { least, most } = boundsOf(action)
      const whole = hasIntegers(action)
      for (let k = 0, c = 0; k < actions.length; k++) {
        // Infinity is not an action, even without bounds.
        if (!(actions[k] >= least[c] && actions[k] <= most[c] && Math.abs(actions[k]) < Infinity))
          throw noAction(environment, step, k)
        if (whole && !Number.isInteger(actions[k])) throw noAction(environment, step, k)
        if (++c === least.length) c = 0
      }
      return
    }
    default: {
      const k = firstOutside(action, actions)
      if (k >= 0) throw noAction(environment, step, k)
      checkMask(environment, step)
    }
  }
}

function checkMask({ definition, actions, actionMask, rewards }: AnyVector, step: number): void {
  if (actionMask.length === 0) return
  const size = actions.length / rewards.length
  const choices = actionMask.length / rewards.length
  for (let envIndex = 0; envIndex < rewards.length; envIndex++) {
    const k = forbiddenChoice(definition.action, actions, envIndex * size, actionMask, envIndex * choices)
    if (k < 0) continue
    const field = `actions[${k}]`
    const value = String(actions[envIndex * size + k])
    throw new AgogeError(
      `${definition.name} was given an action that its mask forbids at step ${step}: ${field} of environment ${envIndex} is ${value}`,
      {
        code: 'masked-action',
        given: { environment: definition.name, step, envIndex, field, value },
        expected: `an action whose entries of the mask are 1: ${Array.from(actionMask.subarray(envIndex * choices, (envIndex + 1) * choices)).join(' ')}`,
        hint: 'Check how the agent uses actionMask in act(), and its mask in predict()',
      },
    )
  }
}

interface Bounds {
  least: Float64Array
  most: Float64Array
}
const known = new WeakMap<BoxSpace, Bounds>()

/** The bounds of a box, widened by the rounding error of float32. */
function boundsOf(space: BoxSpace): Bounds {
  let bounds = known.get(space)
  if (bounds === undefined) {
    const { low, high } = space
    const room = low.map((bound, c) => {
      const size = Math.abs(bound) + Math.abs(high[c])
      return size < Infinity ? 1e-6 * size : 0
    })
    bounds = { least: low.map((bound, c) => bound - room[c]), most: high.map((bound, c) => bound + room[c]) }
    known.set(space, bounds)
  }
  return bounds
}

function noAction({ actions, rewards, definition }: AnyVector, step: number, k: number): AgogeError {
  const size = actions.length / rewards.length
  const envIndex = Math.floor(k / size)
  const field = `actions[${k % size}]`
  const value = String(actions[k])
  return new AgogeError(
    `${definition.name} was given an action that it does not have at step ${step}: ${field} of environment ${envIndex} is ${value}`,
    {
      code: 'not-in-space',
      given: { environment: definition.name, step, envIndex, field, value },
      expected: `a member of ${describeSpace(definition.action)}`,
      hint:
        definition.action.type === 'box' && !hasIntegers(definition.action)
          ? 'Clip what the agent writes in act() and decide(): clipActionRows, or the wrapper clipActions'
          : 'Look at what the agent writes in act() and decide()',
    },
  )
}

function notFinite(
  { definition, actions, rewards }: AnyVector,
  step: number,
  field: string,
  envIndex: number,
  value: number,
): AgogeError {
  const size = actions.length / rewards.length
  const action = Array.from(actions.subarray(envIndex * size, (envIndex + 1) * size))
  return new AgogeError(
    `${definition.name} gave ${value} at step ${step}: ${field} of environment ${envIndex}`,
    {
      code: 'not-finite',
      given: { environment: definition.name, step, envIndex, field, value: String(value), action },
      expected: 'finite numbers',
      hint: "Look at the environment's step() and observe() for this action, and at the bounds of its action space",
    },
  )
}
