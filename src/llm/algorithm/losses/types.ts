/** Everything per token and of the same length. */
export interface LossInputs {
  /** Natural-log probabilities under the policy being trained. */
  logprobs: ArrayLike<number>
  /** Those under the policy that sampled the tokens. */
  samplerLogprobs: ArrayLike<number>
  advantages: ArrayLike<number>
  /** 0 where the token does not count; otherwise its weight, normaliser folded in. */
  weights: ArrayLike<number>
}

/** The same, where the loss has to know which tokens belong together. */
export interface SequenceLossInputs extends LossInputs {
  /** The first token of each sequence, 0 first and never falling; a sequence ends where the next begins. */
  starts: ArrayLike<number>
}

/** A loss to be minimised, with its exact gradient: `gradient[t]` is d value / d logprobs[t]. */
export interface LossValue {
  value: number
  gradient: Float32Array
  /** Share of the counted tokens at which a clip stopped or bounded the gradient. */
  clipFraction: number
}

/** Distributions over a vocabulary of V words, one a token: logits are of shape [tokens, V], in rows. */
export interface LogitInputs {
  logits: ArrayLike<number>
  /** V. */
  vocabulary: number
  /** [tokens], as in `LossInputs`. */
  weights: ArrayLike<number>
}

/** A loss over whole distributions: `gradient` is d value / d logits, [tokens, V]. */
export interface LogitLossValue {
  value: number
  gradient: Float32Array
}
