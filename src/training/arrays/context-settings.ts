import { contextSampler, contextSetsOf, visibleContext } from '../../environment/index.ts'
import type { Context, ContextFeature, ContextFor, ContextSet, World } from '../../environment/index.ts'
import { AgogeError } from '../../error.ts'
import { findNamed } from './find-named.ts'
import type { ArrayTrainOptions } from './types.ts'

/** Which contexts of a world episodes are played in, as plain data. */
export interface ContextSettings {
  /** Features that are drawn anew for every episode. */
  vary: readonly string[]
  /** Whether the observation ends with them; else they are hidden. */
  visible: boolean
  /** Values of others, instead of their defaults. */
  fixed: Context
}

/** `default`: one context for all episodes, that of the world with what is fixed. */
export type EvaluationSet = 'default' | ContextSet

/** The context of an episode of an evaluation. */
export type EvaluationContexts = (episode: number) => Context

export const noContexts: ContextSettings = { vary: [], visible: false, fixed: {} }

/**
 * @throws AgogeError for features that the world does not have, values outside their ranges, features that are both fixed
 * and varied, and visible ones where none vary.
 */
export function checkContexts(
  world: Pick<World, 'name' | 'context'>,
  { vary, visible, fixed }: ContextSettings,
): void {
  for (const name of [...vary, ...Object.keys(fixed)])
    findNamed(`context feature of ${world.name}`, name, world.context)
  for (const [name, value] of Object.entries(fixed)) {
    if (vary.includes(name)) {
      throw new AgogeError(`${name} of ${world.name} cannot both vary and be fixed`, {
        code: 'bad-argument',
        given: { vary, fixed },
        expected: 'each feature in one of them',
      })
    }
    checkValue(world, name, world.context[name], value as number)
  }
  if (visible && vary.length === 0) {
    throw new AgogeError(`Nothing of the context of ${world.name} varies that could be visible`, {
      code: 'bad-argument',
      given: 'visible, and no features that vary',
      expected: `some of ${Object.keys(world.context).join(', ')}`,
      hint: 'On the command line: --vary all --visible',
    })
  }
}

function checkValue(world: Pick<World, 'name'>, name: string, feature: ContextFeature, value: number): void {
  const { low, high, extrapolate = [low, high], integer } = feature
  const [least, most] = [Math.min(low, extrapolate[0]), Math.max(high, extrapolate[1])]
  if (value >= least && value <= most && (integer !== true || Number.isInteger(value))) return
  throw new AgogeError(`${name} of ${world.name} cannot be ${value}`, {
    code: 'bad-argument',
    given: `${name}=${value}`,
    expected: `a ${integer === true ? 'whole ' : ''}number from ${least} to ${most} (${feature.about})`,
    hint: `agoge envs ${world.name} lists the features with their ranges`,
  })
}

/** The world as an agent sees it. */
export const seenWorld = (world: World, { vary, visible }: ContextSettings): World =>
  visible ? visibleContext(world, vary) : world

/** The sets that an evaluation can be on, that of training first. */
export const evaluationSets = (world: World, { vary }: ContextSettings): EvaluationSet[] =>
  vary.length === 0 ? ['default'] : contextSetsOf(world.context, vary)

/** Of a run that trains in these contexts: for `trainArray`. */
export function contextOptions(
  world: World,
  contexts: ContextSettings = noContexts,
  seed: number,
): Pick<ArrayTrainOptions, 'contextFor' | 'evaluationSets'> {
  const contextFor = trainingContexts(world, contexts, seed)
  if (contextFor === undefined) return {}
  const sets = evaluationSets(world, contexts)
  return {
    contextFor,
    evaluationSets: Object.fromEntries(
      sets.map((set) => [set, evaluationContexts(world, contexts, set, seed)]),
    ),
  }
}

/** The contexts of training; undefined where they are the defaults. */
export function trainingContexts(
  world: World,
  { vary, fixed }: ContextSettings,
  seed: number,
): ContextFor | undefined {
  if (vary.length === 0) return Object.keys(fixed).length === 0 ? undefined : () => fixed
  const sample = contextSampler(world.context, { vary, seed })
  return (slot, episode) => ({ ...fixed, ...sample(slot, episode) })
}

/**
 * The contexts of an evaluation on a set. They are others than those of training with the same seed, also on the set
 * `train`.
 *
 * @throws AgogeError where no feature that varies can tell the set from training.
 */
export function evaluationContexts(
  world: World,
  { vary, fixed }: ContextSettings,
  set: EvaluationSet,
  seed: number,
): EvaluationContexts {
  if (set === 'default') return () => fixed
  const sample = contextSampler(world.context, { vary, set, seed })
  return (episode) => ({ ...fixed, ...sample(episode, -1) })
}
