/** What an arm is given: which seed to use and how much it may do. */
export interface ArmRun {
  seed: number
  /** The paper's `budget`, or a small part of it in a quick run. */
  budget: Readonly<Record<string, number>>
  signal?: AbortSignal
}

/** A method or a baseline of an experiment: plays one seed and gives its score. */
export type Arm = (run: ArmRun) => Promise<number> | number

/** What the claim says of the scores: the arm `better` beats every arm of `than`, by `margin` at least (default 0). */
export interface Expectation<Name extends string> {
  better: Name
  than: readonly Name[]
  margin?: number
}

/** One paper as a short experiment: what it claims, how that is put to the test, and what would count. */
export interface Paper<Name extends string = string> {
  /** That of the catalogue. */
  id: string
  title: string
  theme: string
  /** The claim in one sentence. */
  claim: string
  arms: Readonly<Record<Name, Arm>>
  /** What the score of an arm is, with its unit. */
  metric: string
  /** Whether a higher score is better; default true. */
  higherIsBetter?: boolean
  /** Seeds 1 to this number, fixed beforehand. */
  seeds: number
  budget: Readonly<Record<string, number>>
  /** The budget of a quick run, which shows only that everything runs. */
  quick: Readonly<Record<string, number>>
  expect: Expectation<NoInfer<Name>>
  /** Where something smaller stands in for what the paper used. */
  simplifications?: readonly string[]
}

/** Checks nothing, infers the arms: so that `expect` can name only arms that there are. */
export const definePaper = <Name extends string>(paper: Paper<Name>): Paper<Name> => paper
