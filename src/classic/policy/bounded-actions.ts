import { AgogeError } from '../../error.ts'
import {
  type ArraySpace,
  type BoxSpace,
  describeSpace,
  type EnvironmentDefinition,
  hasIntegers,
} from '../environment/index.ts'

/** Converts between [-1, 1] and the bounds of the environment. Learners of continuous control work in [-1, 1]. */
export interface BoundedActions {
  readonly size: number
  /** Writes `rows` actions in the units of the environment. */
  toDefinition(unit: Float32Array, rows: number, actions: Float32Array): void
  /** Converts back to [-1, 1]. */
  toUnit(actions: Float32Array, rows: number, unit: Float32Array): void
}

/** @throws AgogeError `unbounded-action` for an infinite bound */
export function checkBounded(space: BoxSpace): void {
  const at = space.low.findIndex((low, i) => !Number.isFinite(low) || !Number.isFinite(space.high[i]))
  if (at < 0) return
  throw new AgogeError('actions pressed into bounds need bounds', {
    code: 'unbounded-action',
    given: `action ${at} from ${space.low[at]} to ${space.high[at]}`,
    expected: 'finite bounds',
    hint: 'give the action space of the environment finite bounds, or use an algorithm with an unbounded policy, such as PPO',
  })
}

/** @throws AgogeError `unsupported-space` for a box of integers, because samples are real numbers */
export function checkReal(environment: string, space: BoxSpace): void {
  if (!hasIntegers(space)) return
  throw new AgogeError(
    `policies of continuous actions draw real numbers, and the actions of ${environment} are integers`,
    {
      code: 'unsupported-space',
      given: describeSpace(space),
      expected: 'a box of float32 or float64',
      hint: 'declare the actions as multiDiscrete, or as such a box whose numbers step() rounds',
    },
  )
}

/**
 * Conversions for an environment with bounded continuous actions.
 *
 * @throws AgogeError `unsupported-space` for other actions and for integers, `unbounded-action` for an infinite
 * bound
 */
export function boundedActions({ name, action }: EnvironmentDefinition): BoundedActions {
  if (action.type !== 'box') {
    throw new AgogeError(`this algorithm needs continuous actions, and those of ${name} are not`, {
      code: 'unsupported-space',
      given: action.type,
      expected: 'box',
      hint: 'for choices there are DQN, PPO and the discrete form of SAC',
    })
  }
  checkReal(name, action)
  checkBounded(action)
  const { low, high } = action
  const size = low.length
  return {
    size,
    toDefinition(unit, rows, actions) {
      for (let i = 0; i < rows * size; i++) {
        const c = i % size
        actions[i] = low[c] + (0.5 * unit[i] + 0.5) * (high[c] - low[c])
      }
    },
    toUnit(actions, rows, unit) {
      for (let i = 0; i < rows * size; i++) {
        const c = i % size
        unit[i] = (2 * (actions[i] - low[c])) / (high[c] - low[c]) - 1
      }
    },
  }
}

/**
 * Clips the first `rows` actions [rows, k] to the bounds of a box, in place, as Stable-Baselines3 and CleanRL
 * do before a step. Keeps NaN. Does nothing for other spaces.
 */
export function clipActionRows(space: ArraySpace, actions: Float32Array, rows: number): void {
  if (space.type !== 'box') return
  const { low, high } = space
  const size = low.length
  for (let r = 0; r < rows; r++) {
    for (let k = 0; k < size; k++) {
      const at = r * size + k
      actions[at] = Math.min(Math.max(actions[at], low[k]), high[k])
    }
  }
}
