import { AgogeError } from '../../error.ts'
import { createRandom } from '../../engine/random/index.ts'
import type { Random } from '../../engine/random/index.ts'

/**
 * A parameter of a contextual MDP (Hallak et al. 2015) that the environment reads. Features are numbers;
 * categories, such as layouts, are integers.
 */
export interface ContextFeature {
  default: number
  /** The range of training, both ends included. */
  low: number
  high: number
  /** A wider range, for evaluation outside the range of training. Default: none. */
  extrapolate?: readonly [number, number]
  integer?: true
  /** What the feature means, with its unit. */
  about: string
}

/** The context features of an environment, by name. */
export type ContextSpace = Readonly<Record<string, ContextFeature>>

/**
 * The features of all environments of a vector: one array [count] for each name. Index i belongs to environment
 * i.
 */
export type ContextColumns<C extends ContextSpace = ContextSpace> = {
  readonly [Name in keyof C & string]: Float64Array
}

/** Values of some features by name. The other features have their defaults. */
export type Context<C extends ContextSpace = ContextSpace> = Partial<
  Readonly<Record<keyof C & string, number>>
>

/**
 * The values of all features, in the order of their declaration. Missing features get their defaults.
 *
 * @param environment its name, for the message. Default: `the environment`.
 * @throws AgogeError `unknown-feature`, or `not-a-number` for a value that is not finite
 */
export function contextRow(
  space: ContextSpace,
  context: Context = {},
  environment = 'the environment',
): Float64Array {
  for (const name in context) {
    if (!Object.hasOwn(space, name)) {
      throw new AgogeError(`${environment} has no context feature ${name}`, {
        code: 'unknown-feature',
        given: name,
        expected: `one of ${Object.keys(space).join(', ') || 'none: it has no features'}`,
      })
    }
    const value = context[name]
    if (value === undefined || Math.abs(value) < Infinity) continue
    throw new AgogeError(`the context feature ${name} of ${environment} is ${value}`, {
      code: 'not-a-number',
      given: value,
      expected: 'a finite number',
    })
  }
  return Float64Array.from(Object.entries(space), ([name, feature]) => context[name] ?? feature.default)
}

/**
 * Older definitions read `context[i * features + k]`. This prototype makes such a read throw; it would give
 * `undefined`.
 */
const byName = Object.create(null) as object
for (let place = 0; place < 64; place++) {
  Object.defineProperty(byName, place, {
    get() {
      throw new AgogeError('a context feature is read by its place', {
        code: 'unknown-feature',
        given: `context[${place}]`,
        expected: 'its name and the index of the environment, as in context.gravity[i]',
      })
    },
  })
}

/**
 * Allocates the columns of a space, all 0.
 *
 * @param allocate makes the array of the k-th feature. Default: `new Float64Array(count)`.
 */
export function contextColumns(
  space: ContextSpace,
  count: number,
  allocate: (k: number) => Float64Array = () => new Float64Array(count),
): ContextColumns {
  const columns = Object.create(byName) as Record<string, Float64Array>
  Object.keys(space).forEach((name, k) => (columns[name] = allocate(k)))
  return columns
}

/** Writes a row, as made by `contextRow`, as the context of environment i. */
export function writeContext(columns: ContextColumns, i: number, row: ArrayLike<number>): void {
  Object.values(columns).forEach((column, k) => (column[i] = row[k]))
}

/** The context of environment i, as a row in the order of declaration. */
export const readContext = (columns: ContextColumns, i: number): Float64Array =>
  Float64Array.from(Object.values(columns), (column) => column[i])

/** All contexts as rows, [count, features], as saved states store them. */
export function contextRows(columns: ContextColumns, count: number): Float64Array {
  const all = Object.values(columns)
  return Float64Array.from(
    { length: count * all.length },
    (_, k) => all[k % all.length][Math.floor(k / all.length)],
  )
}

/**
 * `train`: contexts inside low..high. `interpolation`: inside low..high too, but disjoint from `train`.
 * `extrapolation`: inside `extrapolate` and outside low..high.
 */
export type ContextSet = 'train' | 'interpolation' | 'extrapolation'

/** The context of the next episode of an environment, as vector environments take it. */
export type ContextFor = (envIndex: number, episode: number) => Context

/** Options of `contextSampler`. */
export interface ContextSamplerOptions {
  /** The features that vary. The others have their defaults. Default: all features. */
  vary?: readonly string[]
  /** Default: `train`. */
  set?: ContextSet
  /** Default: 0. */
  seed?: number
}

/**
 * A range is cut into this number of equal parts. Training has parts 0, 2, ...; interpolation has the parts
 * between them.
 */
const strata = 9
/** Share of a part, or of the range outside low..high, that stays unused at the borders between sets. */
const margin = 0.02

/**
 * Samples contexts from a set. The returned function is deterministic: the same environment and episode give
 * the same context in any order of calls.
 *
 * The three sets of a space are disjoint for all seeds. Real ranges are cut into 9 equal parts: training has
 * the 1st, 3rd, ... 9th and interpolation the others. Of an integer range, interpolation has every second value
 * between the ends. This holds for every feature that varies. An integer feature of fewer than three values is
 * sampled from its whole range in both sets. For extrapolation, every varying feature with a wider range lies
 * outside low..high; the others are sampled as in training.
 *
 * @throws AgogeError `unknown-feature`, or `bad-argument` if no varying feature distinguishes the set from
 * training
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

/** The sets that exist if these features vary: `train`, and those that a feature distinguishes from it. */
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

/**
 * Cycles through a list of contexts. Environment i begins with the i-th, and each environment goes through the
 * whole list.
 */
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

/** Whether the range has a value strictly between its ends. */
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
  // Interpolation has low + 1, low + 3, ... below high.
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
