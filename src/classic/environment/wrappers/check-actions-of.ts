import { AgogeError } from '../../../error.ts'
import { forbiddenChoice } from '../action-masks.ts'
import { type ArraySpace, describeSpace, hasIntegers, rowSize } from '../space.ts'
import type { AnyVector } from '../vector.ts'
import { wrapVector } from './wrap-vector.ts'

/**
 * Checks all inputs and outputs of a vector. Actions of environments that only begin an episode in this step
 * are ignored.
 *
 * @throws AgogeError `not-a-number` for an action that is NaN or an observation or reward that is not finite;
 * `not-in-space` for an action outside its space; `masked-action` for one that the mask forbids. The message
 * names the environment, the step and the field.
 */
export function checkActionsOf<E extends AnyVector>(env: E): E {
  const { definition, actions, lengths, terminated, truncated, actionMask } = env
  const space = definition.action
  const count = lengths.length
  const width = rowSize(space)
  const observationWidth = rowSize(definition.observation)
  const choices = actionMask.length / count
  const { low, high } = actionBounds(space)
  const whole = space.type !== 'box' || hasIntegers(space)

  /** The number of the next step in its episode. The lengths of ended episodes stay until the next step. */
  const stepOf = (i: number): number => ((terminated[i] | truncated[i]) === 1 ? 1 : lengths[i] + 1)

  function checkAction(i: number): void {
    for (let k = 0; k < width; k++) {
      const value = actions[i * width + k]
      if (value >= low[k] && value <= high[k] && (!whole || Number.isInteger(value))) continue
      throw new AgogeError(
        `${definition.name}, environment ${i}, step ${stepOf(i)}: action[${k}] is ${value}`,
        {
          code: Number.isNaN(value) ? 'not-a-number' : 'not-in-space',
          given: value,
          expected: `${whole ? 'an integer' : 'a number'} from ${low[k]} to ${high[k]}: ${describeSpace(space)}`,
        },
      )
    }
    if (choices === 0) return
    const k = forbiddenChoice(space, actions, i * width, actionMask, i * choices)
    if (k < 0) return
    const value = actions[i * width + k]
    const field = width === 1 ? 'action' : `action[${k}]`
    throw new AgogeError(
      `${definition.name}, environment ${i}, step ${stepOf(i)}: ${field} ${value} is not allowed`,
      {
        code: 'masked-action',
        given: value,
        expected: `an action whose entry of the mask is 1: ${maskRow(actionMask, i, choices)}`,
      },
    )
  }

  function checkRow(rows: Float32Array, i: number, field: string): void {
    for (let k = 0; k < observationWidth; k++) {
      const value = rows[i * observationWidth + k]
      if (!Number.isFinite(value)) throw notFinite(definition.name, i, lengths[i], `${field}[${k}]`, value)
    }
  }

  return wrapVector(
    env,
    {},
    {
      arrays: () => ({}),
      reset(mask) {
        for (let i = 0; i < count; i++)
          if (mask === undefined || mask[i] === 1) checkRow(env.observations, i, 'observation')
      },
      before({ first }) {
        for (let i = 0; i < count; i++) if (first[i] === 0) checkAction(i)
      },
      step({ last }) {
        for (let i = 0; i < count; i++) {
          if (!Number.isFinite(env.rewards[i]))
            throw notFinite(definition.name, i, lengths[i], 'reward', env.rewards[i])
          if (last[i] === 1) checkRow(env.finalObservations, i, 'observation')
          checkRow(env.observations, i, 'observation')
        }
      },
    },
  )
}

/**
 * Writes the actions of all environments: [numEnvs * rowSize(action)] numbers, or one row or number for each
 * environment.
 *
 * @throws AgogeError `shape-mismatch`, naming the environment
 */
export function writeActions(env: AnyVector, values: ArrayLike<number> | readonly ArrayLike<number>[]): void {
  const { actions, definition } = env
  const count = env.rewards.length
  const width = rowSize(definition.action)
  const rows = values as ArrayLike<number | ArrayLike<number>>
  if (rows.length === count && (width > 1 || typeof rows[0] !== 'number')) {
    for (let i = 0; i < count; i++) {
      const row = rows[i]
      if (typeof row !== 'object' || row === null || row.length !== width) {
        throw new AgogeError(`${definition.name}, environment ${i}: the action has a wrong shape`, {
          code: 'shape-mismatch',
          given: row,
          expected: `${width} numbers: ${describeSpace(definition.action)}`,
        })
      }
      for (let k = 0; k < width; k++) actions[i * width + k] = row[k]
    }
    return
  }
  if (rows.length !== actions.length) {
    throw new AgogeError(`${definition.name}: the actions have a wrong shape`, {
      code: 'shape-mismatch',
      given: `${rows.length} entries`,
      expected: `${actions.length} numbers, or ${count} rows of ${width}`,
    })
  }
  for (let k = 0; k < actions.length; k++) actions[k] = rows[k] as number
}

/** The bounds of every entry of an action, rounded to float32. */
function actionBounds(space: ArraySpace): { low: Float32Array; high: Float32Array } {
  switch (space.type) {
    case 'box':
      return { low: Float32Array.from(space.low), high: Float32Array.from(space.high) }
    case 'discrete':
      return { low: Float32Array.of(space.start), high: Float32Array.of(space.start + space.n - 1) }
    case 'multi-discrete':
      return {
        low: new Float32Array(space.counts.length),
        high: Float32Array.from(space.counts, (n) => n - 1),
      }
    case 'multi-binary':
      return { low: new Float32Array(space.n), high: new Float32Array(space.n).fill(1) }
  }
}

const maskRow = (mask: Uint8Array, i: number, choices: number): string =>
  mask.slice(i * choices, (i + 1) * choices).join(' ')

const notFinite = (
  environment: string,
  envIndex: number,
  step: number,
  field: string,
  given: number,
): AgogeError =>
  new AgogeError(`${environment}, environment ${envIndex}, step ${step}: ${field} is ${given}`, {
    code: 'not-a-number',
    given,
    expected: 'a finite number',
  })
