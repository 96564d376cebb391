/**
 * On-policy distillation as advantages: what the teacher thinks of each token that the student sampled,
 * `A_t = coefficient * (teacher logprob - sampler logprob)`, the negative reverse divergence of the token. Use them
 * with `importanceSamplingLoss`, alone or added to the advantages of the reward. With a discount above 0 a token
 * also answers for the divergence of what followed it: `A_t = d_t + discount * A_(t+1)`.
 *
 * Sources: MiniLLM (arXiv 2306.08543) for the discounted form; "On-Policy Distillation" (Thinking Machines, 2025)
 * with discount 0, the default; tinker-cookbook's `kl_penalty_coef` and `kl_discount_factor`. `distillationLoss` is
 * the exact form where the teacher's whole distribution is at hand.
 *
 * @param sequence the trained tokens of one sequence.
 */
export function distillationAdvantages(
  sequence: { samplerLogprobs: ArrayLike<number>; teacherLogprobs: ArrayLike<number> },
  settings: { coefficient?: number; discount?: number } = {},
): Float32Array {
  const { coefficient = 1, discount = 0 } = settings
  const advantages = new Float32Array(sequence.samplerLogprobs.length)
  let running = 0
  for (let t = advantages.length - 1; t >= 0; t--) {
    running = sequence.teacherLogprobs[t] - sequence.samplerLogprobs[t] + discount * running
    advantages[t] = coefficient * running
  }
  return advantages
}
