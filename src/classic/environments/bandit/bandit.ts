import { uniformAt } from '../../../engine/random/index.ts'
import type {
  ContextFeature,
  ContextSpace,
  EnvArrays,
  EnvironmentDefinition,
} from '../../environment/index.ts'

/** A bandit with known expected rewards, so that regret is exact. */
export interface BanditDefinition<C extends ContextSpace = ContextSpace> extends EnvironmentDefinition<C> {
  readonly arms: number
  /** The expected reward of an arm in the current state of environment i. Call it before the step. */
  readonly armMean: (envs: EnvArrays, i: number, arm: number) => number
}

/** The highest expected reward of all arms in the current state of environment i. Call it before the step. */
export function bestArmMean(definition: BanditDefinition, envs: EnvArrays, i: number): number {
  let best = -Infinity
  for (let arm = 0; arm < definition.arms; arm++) best = Math.max(best, definition.armMean(envs, i, arm))
  return best
}

/** The expected regret of the arm in `envs.actions` against the best arm. Call it before the step. */
export const expectedRegret = (definition: BanditDefinition, envs: EnvArrays, i: number): number =>
  bestArmMean(definition, envs, i) - definition.armMean(envs, i, envs.actions[i])

/** Pulls in an episode. The last one ends it. */
export const horizonFeature = (horizon: number) =>
  ({
    default: horizon,
    low: Math.min(10, horizon),
    high: Math.max(200, horizon),
    extrapolate: [Math.min(5, horizon), Math.max(500, horizon)],
    integer: true,
    about: 'pulls in an episode',
  }) as const satisfies ContextFeature

/** The context feature `instance`, the same in all bandits. */
export const instanceFeature = {
  default: 0,
  low: 0,
  high: 999_999,
  extrapolate: [0, 1_999_999],
  integer: true,
  about: 'number from which the arms are drawn',
} as const satisfies ContextFeature

/** A standard normal number that depends only on the arguments (Box and Muller 1958). */
export function normalAt(instance: number, purpose: number, counter: number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - uniformAt(instance, purpose, 2 * counter)))
  return radius * Math.cos(2 * Math.PI * uniformAt(instance, purpose, 2 * counter + 1))
}

/** A line of text: number of pulls, horizon, and arm and reward of the last pull. */
export function pullText(pulls: number, horizon: number, arm: number, reward: number): string {
  const last = pulls === 0 ? '' : `   arm ${arm}   reward ${reward.toFixed(3)}`
  return `pull ${pulls} of ${horizon}${last}`
}
