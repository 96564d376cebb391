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

/** A loss to be minimised, with its exact gradient: `gradient[t]` is d value / d logprobs[t]. */
export interface LossValue {
  value: number
  gradient: Float32Array
  /** Share of the counted tokens at which a clip stopped the gradient. */
  clipFraction: number
}
