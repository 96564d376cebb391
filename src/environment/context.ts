/**
 * Parameters of a task that a world reads from its context slot (a contextual MDP; Hallak et al. 2015). Features are
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

/** A row of the context array: the features in the order of their declaration. */
export function contextRow(space: ContextSpace, context: Context = {}): Float64Array {
  return Float64Array.from(Object.entries(space), ([name, feature]) => context[name] ?? feature.default)
}
