import { AgogeError } from '../../error.ts'
import { createRandom } from '../../engine/random/index.ts'
import type { Random } from '../../engine/random/index.ts'
import type { Context, ContextFeature, ContextSpace } from './context.ts'

/**
 * Which contexts: `train` lies inside low..high, `interpolation` there too but never where training does,
 * `extrapolation` inside `extrapolate` and outside low..high.
 */
export type ContextSet = 'train' | 'interpolation' | 'extrapolation'

/** The context of an environment's next episode, as vector environments take it. */
export type ContextFor = (envIndex: number, episode: number) => Context

export interface ContextSamplerOptions {
  /** The features that vary; the others have their defaults. Default: all. */
  vary?: readonly string[]
  /** Default `train`. */
  set?: ContextSet
  /** Default 0. */
  seed?: number
}

/** Training has the even one of these equal parts of a range, interpolation the odd ones: it lies between trained ones. */
const strata = 9
/** Share of a stratum, or of the range outside, that is left free at the borders between sets. */
const margin = 0.02

/**
 * Contexts drawn from a set, as a function of environment and episode: the same arguments give the same context, in whichever
 * order they are asked for.
 *
 * The three sets of a space have no context in common, whatever the seeds. Ranges of numbers are cut into 9 equal parts,
 * of which training has the 1st, 3rd, ... 9th and interpolation the rest; of whole numbers, interpolation has every
 * second one between the ends. All features that vary are drawn in this way; a whole feature of less than three values
 * cannot be held out and is drawn freely. For extrapolation every feature that varies and has a wider range lies
 * outside low..high, the others as in training.
 *
 * Throws `unknown-feature`, and `bad-argument` where no feature that varies can tell the set from training.
 */
export function contextSampler(
  space: ContextSpace,
  { vary = Object.keys(space), set = 'train', seed = 0 }: ContextSamplerOptions = {},
): ContextFor {
  const features = vary.map((name) => [name, featureOf(space, name)] as const)
  const canDraw = set === 'extrapolation' ? canExtrapolate : canHoldOut
  if (set !== 'train' && !features.some(([, feature]) => canDraw(feature))) {
    throw new AgogeError(`no feature can be drawn for ${set}`, {
      code: 'bad-argument',
      given: vary,
      expected:
        set === 'extrapolation'
          ? 'a feature whose `extrapolate` is wider than low..high'
          : 'a feature with at least three values from low to high',
    })
  }
  return (envIndex, episode) => {
    const random = createRandom('context', set, seed, envIndex, episode)
    return Object.fromEntries(features.map(([name, feature]) => [name, draw(feature, set, random)]))
  }
}

/** The sets that there are where these features vary: training, and those that some feature can tell from it. */
export function contextSetsOf(
  space: ContextSpace,
  vary: readonly string[] = Object.keys(space),
): ContextSet[] {
  const features = vary.map((name) => featureOf(space, name))
  return [
    'train',
    ...(features.some(canHoldOut) ? ['interpolation' as const] : []),
    ...(features.some(canExtrapolate) ? ['extrapolation' as const] : []),
  ]
}

/** The contexts of a list in turn: environment i begins with the i-th, and each environment goes through all of them. */
export function fixedContexts(list: readonly Context[]): ContextFor {
  if (list.length === 0) {
    throw new AgogeError('a list of contexts is empty', {
      code: 'bad-argument',
      expected: 'at least one context',
    })
  }
  return (envIndex, episode) => list[(envIndex + episode) % list.length]
}

function featureOf(space: ContextSpace, name: string): ContextFeature {
  if (Object.hasOwn(space, name)) return space[name]
  throw new AgogeError(`the environment has no context feature ${name}`, {
    code: 'unknown-feature',
    given: name,
    expected: `one of ${Object.keys(space).join(', ') || 'none: the environment has no features'}`,
  })
}

/** Whether something lies strictly between the ends. */
const canHoldOut = ({ low, high, integer }: ContextFeature): boolean =>
  integer === true ? high - low >= 2 : high > low

const canExtrapolate = ({ low, high, extrapolate }: ContextFeature): boolean =>
  extrapolate !== undefined && (extrapolate[0] < low || extrapolate[1] > high)

function draw(feature: ContextFeature, set: ContextSet, random: Random): number {
  if (set === 'extrapolation' && canExtrapolate(feature)) return drawOutside(feature, random)
  const { low, high, integer } = feature
  const heldOut = set === 'interpolation'
  if (integer !== true) return drawBetween(low, high, heldOut, random)
  const between = Math.floor((high - low) / 2)
  if (!canHoldOut(feature)) return low + random.int(high - low + 1)
  // Held out are low + 1, low + 3, ... below high.
  if (heldOut) return low + 1 + 2 * random.int(between)
  const rank = random.int(high - low + 1 - between)
  return Math.min(high, low + 2 * rank)
}

function drawBetween(low: number, high: number, heldOut: boolean, random: Random): number {
  const stratum = heldOut ? 1 + 2 * random.int((strata - 1) / 2) : 2 * random.int((strata + 1) / 2)
  const within = heldOut ? margin + (1 - 2 * margin) * random.next() : random.next()
  return low + ((stratum + within) / strata) * (high - low)
}

function drawOutside(
  { low, high, extrapolate = [low, high], integer }: ContextFeature,
  random: Random,
): number {
  const below = Math.max(0, low - extrapolate[0])
  const above = Math.max(0, extrapolate[1] - high)
  if (integer === true) {
    const rank = random.int(below + above)
    return rank < below ? extrapolate[0] + rank : high + 1 + rank - below
  }
  const distance = margin + (1 - margin) * random.next()
  return random.next() * (below + above) < below ? low - distance * below : high + distance * above
}
