import { AgogeError } from '../../error.ts'

/**
 * Parameters of a task that an environment reads (a contextual MDP; Hallak et al. 2015). Features are
 * numbers; kinds such as layouts are integers.
 */
export interface ContextFeature {
  default: number
  /** Range of training, ends included. */
  low: number
  high: number
  /** Wider range, for evaluation outside training. Default: none. */
  extrapolate?: readonly [number, number]
  integer?: true
  /** What it is, with its unit. */
  about: string
}

export type ContextSpace = Readonly<Record<string, ContextFeature>>

/** The features of all environments of a vector: of each by name an array [count], environment i's value at index i. */
export type ContextColumns<C extends ContextSpace = ContextSpace> = {
  readonly [Name in keyof C & string]: Float64Array
}

/** The values of some features by name; the others have their defaults. */
export type Context<C extends ContextSpace = ContextSpace> = Partial<
  Readonly<Record<keyof C & string, number>>
>

/**
 * A row of the context array: the features in the order of their declaration.
 *
 * @param environment its name, for the message
 * @throws AgogeError `unknown-feature`, or `not-a-number`
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

/** Definitions written before features had names read `context[i * features + k]`. They are refused instead of computing with `undefined`. */
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
 * The columns of a space, all 0.
 * @param allocate makes the array of the k-th feature. Default: one on the heap
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

/** Writes a row (`contextRow`) as the context of environment i. */
export function writeContext(columns: ContextColumns, i: number, row: ArrayLike<number>): void {
  Object.values(columns).forEach((column, k) => (column[i] = row[k]))
}

/** The context of environment i as a row. */
export const readContext = (columns: ContextColumns, i: number): Float64Array =>
  Float64Array.from(Object.values(columns), (column) => column[i])

/** All contexts as rows, [count, features]: what a saved state holds. */
export function contextRows(columns: ContextColumns, count: number): Float64Array {
  const all = Object.values(columns)
  return Float64Array.from(
    { length: count * all.length },
    (_, k) => all[k % all.length][Math.floor(k / all.length)],
  )
}
