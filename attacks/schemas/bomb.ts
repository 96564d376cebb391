/** Input that should make its reader work without end. */
export interface Bomb {
  name: string
  /** What is thrown, and at what. Making it does not count. */
  prepare(): Targets
}

/** Throws the bomb at one function. Returns in a few words what came of it. An error is allowed if it is a clear refusal. */
export type Throw = () => string | Promise<string>

/** The functions that a bomb is thrown at. A slow one works in a thread of its own, and is only bounded: 5 seconds. */
export type Targets = Readonly<Record<string, Throw | { slow: Throw }>>

/** Longest section of functions that work in a thread of their own, in milliseconds. */
export const longestSlow = 5000

/** What came of one bomb, thrown at several functions. */
export interface BombAnswer {
  /** What each function made of it. */
  outcomes: readonly string[]
  /** Functions that failed, with what happened. */
  faults: readonly string[]
  longestSection: number
}

/** A bomb of one input that is thrown at several functions. */
export function bomb<Input>(name: string, make: () => Input, targets: (input: Input) => Targets): Bomb {
  return { name, prepare: () => targets(make()) }
}
