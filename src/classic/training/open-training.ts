import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import {
  isEnvironmentDefinition,
  type OpenedVector,
  openVector,
  wholeEpisodes,
} from '../environment/index.ts'
import type { ClassicTrainOptions, EvaluationSettings } from './types.ts'

/** Options with their defaults filled in. */
export interface OpenedTraining {
  numEnvs: number
  seed: number
  evaluate: Required<EvaluationSettings>
}

/**
 * Opens the environment of a run, and fills in the defaults of its options.
 *
 * @throws AgogeError `bad-argument` without an environment, for numbers of steps or episodes that are not whole
 * numbers, and for one object where several are needed.
 */
export async function openTraining(
  options: ClassicTrainOptions,
): Promise<OpenedTraining & { environment: OpenedVector }> {
  const { definition, steps, seed = 0, contextFor } = options
  if (typeof definition !== 'function' && (typeof definition !== 'object' || definition === null)) {
    throw new AgogeError('There is no environment to train in', {
      code: 'bad-argument',
      given: definition,
      expected: 'an environment, an object with reset and step, or a function that makes such objects',
      ...(typeof definition === 'string'
        ? { hint: `classicEnvironments['${String(definition)}'] is the environment of a name` }
        : {}),
    })
  }
  const name = definition.name ?? 'an environment'
  if (!(steps >= 1 && steps < Infinity)) {
    throw new AgogeError(`A run on ${name} cannot have ${steps} steps`, {
      code: 'bad-argument',
      given: steps,
      expected: 'a number of at least 1',
    })
  }
  const isSingle = typeof definition !== 'function' && !isEnvironmentDefinition(definition)
  const { numEnvs = isSingle ? 1 : wholeEpisodes(isEnvironmentDefinition(definition) ? definition : {}, 8) } =
    options
  const evaluate = {
    episodes: options.evaluate?.episodes ?? 100,
    every: options.evaluate?.every ?? (isSingle ? 0 : Math.ceil((Math.ceil(steps / numEnvs) * numEnvs) / 10)),
    during: options.evaluate?.during ?? 20,
  }
  if (isSingle && evaluate.every > 0) {
    throw new AgogeError(`${name} is one object, which cannot be trained on and evaluated at the same time`, {
      code: 'bad-argument',
      given: `an evaluation every ${evaluate.every} steps`,
      expected: 'evaluate.every of 0, or a function that makes environments',
    })
  }
  for (const [name, least] of [
    ['episodes', 1],
    ['during', evaluate.every > 0 ? 1 : 0],
  ] as const) {
    if (Number.isSafeInteger(evaluate[name]) && evaluate[name] >= least) continue
    throw new AgogeError(`An evaluation cannot have ${evaluate[name]} episodes`, {
      code: 'bad-argument',
      given: { evaluate: { [name]: evaluate[name] } },
      expected: 'a positive integer',
      hint: 'evaluate: { every: 0 } evaluates only after training',
    })
  }
  const environment = await openVector(definition, {
    numEnvs,
    seed,
    ...defined({ contextFor }),
  })
  return { environment, numEnvs, seed, evaluate }
}
