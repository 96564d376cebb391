import { contextSampler, contextSetsOf, visibleContext } from '../environment/index.ts'
import type {
  Context,
  ContextFeature,
  ContextFor,
  ContextSet,
  EnvironmentDefinition,
} from '../environment/index.ts'
import { AgogeError } from '../../error.ts'
import { findNamed } from '../../closest-name.ts'
import type { ClassicTrainOptions } from './types.ts'

/** The contexts that episodes are played in, as plain data. */
export interface ContextSettings {
  /** Features that are sampled anew for every episode. */
  vary: readonly string[]
  /** Appends the sampled features to the observation. Default: they are hidden. */
  visible: boolean
  /** Values of the other features. Default: the defaults of the environment. */
  fixed: Context
}

/** `default`: one context for all episodes, the default of the environment with the fixed values. */
export type EvaluationSet = 'default' | ContextSet

/** The context of an episode of an evaluation. */
export type EvaluationContexts = (episode: number) => Context

export const noContexts: ContextSettings = { vary: [], visible: false, fixed: {} }

/**
 * Resolves the contexts of a run.
 *
 * @throws AgogeError for features that the environment does not have, values outside their ranges, features that
 * are both fixed and varied, and `visible` without varied features.
 */
export function checkContexts(
  definition: Pick<EnvironmentDefinition, 'name' | 'context'>,
  { vary, visible, fixed }: ContextSettings,
): void {
  for (const name of [...vary, ...Object.keys(fixed)])
    findNamed(`context feature of ${definition.name}`, name, definition.context)
  for (const [name, value] of Object.entries(fixed)) {
    if (vary.includes(name)) {
      throw new AgogeError(`${name} of ${definition.name} cannot both vary and be fixed`, {
        code: 'bad-argument',
        given: { vary, fixed },
        expected: 'each feature in one of them',
      })
    }
    checkValue(definition, name, definition.context[name], value as number)
  }
  if (visible && vary.length === 0) {
    throw new AgogeError(`No context feature of ${definition.name} varies, so that none can be visible`, {
      code: 'bad-argument',
      given: 'visible, and no features that vary',
      expected: `some of ${Object.keys(definition.context).join(', ')}`,
      hint: 'On the command line: --vary all --visible',
    })
  }
}

function checkValue(
  definition: Pick<EnvironmentDefinition, 'name'>,
  name: string,
  feature: ContextFeature,
  value: number,
): void {
  const { low, high, extrapolate = [low, high], integer } = feature
  const [least, most] = [Math.min(low, extrapolate[0]), Math.max(high, extrapolate[1])]
  if (value >= least && value <= most && (integer !== true || Number.isInteger(value))) return
  throw new AgogeError(`${name} of ${definition.name} cannot be ${value}`, {
    code: 'bad-argument',
    given: `${name}=${value}`,
    expected: `a ${integer === true ? 'whole ' : ''}number from ${least} to ${most} (${feature.about})`,
    hint: `agoge envs ${definition.name} lists the features with their ranges`,
  })
}

/** The environment as an agent sees it. */
export const seenDefinition = (
  definition: EnvironmentDefinition,
  { vary, visible }: ContextSettings,
): EnvironmentDefinition => (visible ? visibleContext(definition, vary) : definition)

/** The sets for evaluations. The set of training comes first. */
export const evaluationSets = (
  definition: EnvironmentDefinition,
  { vary }: ContextSettings,
): EvaluationSet[] => (vary.length === 0 ? ['default'] : contextSetsOf(definition.context, vary))

/** The options of `trainClassic` for a run that trains in these contexts. */
export function contextOptions(
  definition: EnvironmentDefinition,
  contexts: ContextSettings = noContexts,
  seed: number,
): Pick<ClassicTrainOptions, 'contextFor' | 'evaluationSets'> {
  const contextFor = trainingContexts(definition, contexts, seed)
  if (contextFor === undefined) return {}
  const sets = evaluationSets(definition, contexts)
  return {
    contextFor,
    evaluationSets: Object.fromEntries(
      sets.map((set) => [set, evaluationContexts(definition, contexts, set, seed)]),
    ),
  }
}

/** The contexts of training; undefined for the defaults. */
export function trainingContexts(
  definition: EnvironmentDefinition,
  { vary, fixed }: ContextSettings,
  seed: number,
): ContextFor | undefined {
  if (vary.length === 0) return Object.keys(fixed).length === 0 ? undefined : () => fixed
  const sample = contextSampler(definition.context, { vary, seed })
  return (envIndex, episode) => ({ ...fixed, ...sample(envIndex, episode) })
}

/**
 * The contexts of an evaluation on a set. They differ from the contexts of training with the same seed, also on
 * the set `train`.
 *
 * @throws AgogeError if no varied feature separates the set from training.
 */
export function evaluationContexts(
  definition: EnvironmentDefinition,
  { vary, fixed }: ContextSettings,
  set: EvaluationSet,
  seed: number,
): EvaluationContexts {
  if (set === 'default') return () => fixed
  const sample = contextSampler(definition.context, { vary, set, seed })
  return (episode) => ({ ...fixed, ...sample(episode, -1) })
}
