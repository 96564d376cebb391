import { AgogeError } from '../../error.ts'

/**
 * Parameters of a task that an environment reads from its context slot (a contextual MDP; Hallak et al. 2015). Features are
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
