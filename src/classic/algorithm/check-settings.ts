import { AgogeError } from '../../error.ts'

/** The range of a setting. */
interface Range {
  holds: (value: unknown) => boolean
  expected: string
}

const number = (expected: string, holds: (value: number) => boolean): Range => ({
  holds: (value) => typeof value === 'number' && Number.isFinite(value) && holds(value),
  expected,
})
const whole = (least: number): Range =>
  number(`a whole number of at least ${least}`, (value) => Number.isSafeInteger(value) && value >= least)
const share = number('a number from 0 to 1', (value) => value >= 0 && value <= 1)
const notNegative = number('a number of at least 0', (value) => value >= 0)
const finite = number('a number', () => true)
const orNull = ({ holds, expected }: Range): Range => ({
  holds: (value) => value === null || holds(value),
  expected: `${expected}, or null`,
})

const named = (range: Range, ...names: string[]): Record<string, Range> =>
  Object.fromEntries(names.map((name) => [name, range]))

/** A setting has the same range in every algorithm. */
const ranges: Readonly<Record<string, Range>> = {
  ...named(
    whole(1),
    'numEnvs',
    'rolloutSteps',
    'epochs',
    'minibatches',
    'episodes',
    'bufferSize',
    'batchSize',
  ),
  ...named(whole(1), 'trainEvery', 'gradientSteps', 'targetEvery', 'actorEvery', 'policyDelay', 'critics'),
  ...named(whole(1), 'nSteps', 'quantiles', 'maxEpisodeSteps'),
  ...named(whole(2), 'atoms'),
  ...named(whole(0), 'learningStarts'),
  ...named(share, 'gamma', 'lambda', 'tau', 'epsilonStart', 'epsilonEnd', 'explorationFraction', 'stepSize'),
  ...named(notNegative, 'learningRate', 'actorLearningRate', 'criticLearningRate', 'adamEpsilon'),
  ...named(notNegative, 'clip', 'valueWeight', 'explorationNoise', 'targetNoise', 'targetNoiseClip', 'sigma'),
  ...named(notNegative, 'weightDecay'),
  ...named(orNull(notNegative), 'maxGradientNorm'),
  ...named(finite, 'entropy', 'targetEntropy', 'low', 'high', 'initialValue'),
  hidden: {
    holds: (value) => Array.isArray(value) && value.every((width) => whole(1).holds(width)),
    expected: 'a list of whole numbers of at least 1',
  },
}

/**
 * Returns the settings if each is in its range.
 *
 * @throws AgogeError `bad-argument` naming the first one that is not
 */
export function checkSettings<C extends object>(settings: C): C {
  const given = settings as Readonly<Record<string, unknown>>
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || !Object.hasOwn(ranges, name) || ranges[name].holds(value)) continue
    throw outOfRange(name, value, ranges[name].expected)
  }
  const { low, high } = given as Record<string, number | undefined>
  if (low !== undefined && high !== undefined && low >= high)
    throw outOfRange('low', low, `less than high, ${high}`)
  return settings
}

/**
 * Checks that a rollout has enough parts for the minibatches.
 *
 * @throws AgogeError `bad-argument` if there are more minibatches than `parts`
 */
export function checkMinibatches(minibatches: number, parts: number, what = 'steps'): void {
  if (minibatches > parts)
    throw outOfRange('minibatches', minibatches, `at most the ${parts} ${what} of a rollout`)
}

function outOfRange(name: string, value: unknown, expected: string): AgogeError {
  const given = typeof value === 'number' ? String(value) : JSON.stringify(value)
  return new AgogeError(`The setting ${name} cannot be ${given}: it has to be ${expected}`, {
    code: 'bad-argument',
    given: { [name]: value },
    expected,
  })
}

/** Settings of methods that learn from whole episodes. */
export interface WholeEpisodes {
  /**
   * Training stops with an error at an episode of this many steps that has not ended. The method could not learn
   * from it, and its steps would fill the memory. Default: 100 000.
   */
  maxEpisodeSteps?: number
}

export const longestEpisode = 100_000

/** The error for an episode that does not end. */
export const endlessEpisode = (
  algorithm: string,
  environment: string,
  { envIndex, steps }: { envIndex: number; steps: number },
): AgogeError =>
  new AgogeError(
    `${algorithm} learns from whole episodes, and one of ${environment} has not ended: step ${steps} of environment ${envIndex}, neither terminated nor truncated`,
    {
      code: 'endless-episode',
      given: { environment, envIndex, step: steps, field: 'terminated' },
      expected: `an end within ${steps} steps (maxEpisodeSteps)`,
      hint: 'give the environment a limit (maxSteps, or the wrapper timeLimit), raise maxEpisodeSteps, or use ppo or dqn',
    },
  )
