import { AgogeError } from '../../error.ts'

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
