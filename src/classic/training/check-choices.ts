import { choiceCounts, describeSpace } from '../environment/index.ts'
import type { AnyVector, ArraySpace } from '../environment/index.ts'
import { AgogeError } from '../../error.ts'

const bits: number[] = [2]

/** Index of the first of `values`, rows of a space of choices, that is no choice of its own; -1 where all are. */
export function firstOutside(
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
 * Observed choices become places in one-hot rows and in tables: one that is not there would be the choice of another row.
 *
 * @throws AgogeError `not-in-space`, naming environment, step, slot and field.
 */
export function checkObservedChoices(environment: AnyVector, step: number): void {
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
 * An episode that goes on needs an action.
 *
 * @throws AgogeError `no-action`, naming environment, step and slot, where the mask leaves a number of the action no choice.
 */
export function checkAllowed(
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
    `${definition.name} showed what is not in its observation space at step ${step}: ${field} of slot ${envIndex} is ${values[k]}`,
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
    `${name} allows nothing at step ${step}: the mask of slot ${envIndex} has no choice for ${what}`,
    {
      code: 'no-action',
      given: { environment: name, step, envIndex, field: 'actionMask' },
      expected: 'at least one entry of 1 in every state from which the episode goes on',
      hint: 'End the episode (terminated) where nothing can be done, or allow an action that does nothing',
    },
  )
