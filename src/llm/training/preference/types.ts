/** What was asked and what was said. */
export interface Answer {
  /** At least one token, since nothing stands before the first. */
  prompt: Int32Array
  tokens: Int32Array
  /**
   * Of each token; default 1. 0 = does not count, as what a tool said between two turns. The answer's log-probability is the
   * weighted sum, its length the sum of the weights.
   */
  weights?: ArrayLike<number>
}

/** Two answers to one prompt, the better one first. */
export interface PreferencePair {
  prompt: Int32Array
  chosen: Int32Array
  rejected: Int32Array
  /** Of the tokens of each, as of an `Answer`. */
  weights?: { chosen: ArrayLike<number>; rejected: ArrayLike<number> }
}

/** One answer that somebody liked or did not. */
export interface LabelledAnswer extends Answer {
  desirable: boolean
}

/** Log-probabilities (natural) of whole answers, one number an example. */
export interface AnswerSums {
  logprobs: Float64Array
  /** Under the reference; zeros where the method has none. */
  reference: Float64Array
  lengths: Float64Array
}

export interface MethodLoss {
  /** The mean over the batch. */
  value: number
  /** d value / d log-probability: for each answer of an example one array over the batch. */
  gradients: readonly Float32Array[]
  /** Mean difference of the method's score between good and bad answers. */
  margin: number
  /** Share of the examples that the score puts on the right side. */
  accuracy: number
}

/** A way to learn from preferences: which answers an example is made of, and what they cost. */
export interface PreferenceMethod<Example> {
  name: string
  usesReference: boolean
  /** The answers that are read for each example; the same number for all. */
  answers(examples: readonly Example[]): Answer[][]
  /** What is scored of a pair in a validation: the chosen answer, then the rejected. */
  compared(pair: PreferencePair): [Answer, Answer]
  /** One `AnswerSums` for each answer of an example. */
  loss(batch: readonly AnswerSums[], examples: readonly Example[]): MethodLoss
  /** What the method holds an answer to be worth, from its log-probability, that of the reference, and its length. */
  score(logprob: number, reference: number, length: number): number
}
