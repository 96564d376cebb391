/** Input of an arm: its seed and how much it may do. */
export interface ArmRun {
  seed: number
  /** The paper's `budget`, or a small fraction of it in a quick run. */
  budget: Readonly<Record<string, number>>
  signal?: AbortSignal
}

/** What an arm returns where a score alone does not say enough. */
export interface ArmResult {
  score: number
  /** Numbers that show whether the mechanism was active, by name: share of clipped tokens, of groups with equal rewards. */
  measures?: Readonly<Record<string, number>>
  /** The score before training: what the arm started from. */
  start?: number
  /**
   * False if the score is a time that was cut off at the budget. The score must then be the whole budget: such times are compared as
   * restricted times. Default: true.
   */
  reached?: boolean
}

/** A method or a baseline of an experiment: runs with one seed and returns its score. */
export type Arm = (run: ArmRun) => Promise<number | ArmResult> | number | ArmResult

/** The claim about the scores: arm `better` beats every arm of `than`, by an effect of at least `atLeast` that counts. */
export interface Effect<Name extends string = string> {
  better: Name
  /** The rivals. Their comparisons are corrected together, by Holm. */
  than: readonly Name[]
  /**
   * The smallest effect that counts, above 0. On scale `difference` in units of the score, on scale `ratio` a factor above 1. It
   * decides the number of seeds, and below it arms count as equivalent.
   */
  atLeast: number
  /**
   * `difference` compares means. `ratio` compares means of logarithms and needs scores above 0: for times until a threshold, which
   * differ by factors and often have two modes. Default: `difference`.
   */
  scale?: 'difference' | 'ratio'
}

/**
 * A manipulation check: whether the mechanism that the claim is about was active. The mean over seeds of a measure must lie within the
 * bounds, for each of the arms.
 */
export interface Check<Name extends string = string> {
  /** What it shows, in words: `the bonus was paid`. */
  about: string
  /** The arm, or several. */
  arm: Name | readonly Name[]
  /** Name of a measure that the arm returns, or `score` or `start`. */
  of: string
  atLeast?: number
  atMost?: number
}

/** The controls: what must come out, and what must not, for the experiment to show anything. */
export interface Control<Name extends string = string> {
  /** A comparison that must come out by the rule of the paper, such as trained above untrained. */
  positive: { better: Name; than: Name; atLeast: number }
  /** The arm that is run a second time with other seeds, and must not differ from itself. Default: the first rival. */
  same?: Name
}

/** One paper as a short experiment: its claim, the test of the claim, and what counts as reproduced. */
export interface Paper<Name extends string = string> {
  /** The id in the catalogue. */
  id: string
  title: string
  theme: string
  /** The claim in one sentence. */
  claim: string
  arms: Readonly<Record<Name, Arm>>
  /** What the score of an arm is, with its unit. */
  metric: string
  /** Whether a higher score is better. Default: true. */
  higherIsBetter?: boolean
  /**
   * `seed`: arms with the same seed share what the seed decides (tasks, initial weights), so their scores are compared in pairs.
   * `none`: a seed decides nothing that arms share.
   */
  pairing: 'seed' | 'none'
  effect: Effect<NoInfer<Name>>
  /** A paper without a check cannot be planned. */
  checks?: readonly Check<NoInfer<Name>>[]
  /** A paper without a control cannot be planned. */
  control?: Control<NoInfer<Name>>
  budget: Readonly<Record<string, number>>
  /** The budget of a quick run, which shows only that everything runs. */
  quick: Readonly<Record<string, number>>
  /** Simplifications relative to the paper. */
  simplifications?: readonly string[]
}

/** Infers the arms, so that effect, checks and control can name only existing ones. Checks nothing at run time. */
export const definePaper = <Name extends string>(paper: Paper<Name>): Paper<Name> => paper

/** All runs of one arm, in the order of the seeds. */
export interface ArmRuns {
  scores: number[]
  /** By name, in the order of the seeds. */
  measures: Record<string, number[]>
  /** Scores before training. Empty if the arm does not return them. */
  starts: number[]
  /** How many scores are times that were cut off at the budget. */
  unreached: number
  /** Computing time, summed over the seeds. */
  seconds: number
}

/** The runs of a paper by arm, and those of the A/A control, with seeds of their own. */
export interface PaperRuns {
  arms: Record<string, ArmRuns>
  again?: ArmRuns
}

/** The arm of the A/A control. */
export const sameArm = ({ control, effect }: Pick<Paper, 'control' | 'effect'>): string =>
  control?.same ?? effect.than[0]
