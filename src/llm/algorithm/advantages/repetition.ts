/**
 * What an answer pays for repeating itself: `-(1 - distinct / all) * most` over its n-grams of tokens; 0 for answers
 * shorter than one n-gram. Added to the reward.
 *
 * Source: "Demystifying Long Chain-of-Thought Reasoning" (arXiv 2502.03373), appendix C.2; TRL's
 * `get_repetition_penalty_reward`, whose `max_penalty` is `-most`. Open-R1 counts words instead of tokens.
 *
 * @param settings n, default 3; most, the penalty of pure repetition, default 1.
 */
export function repetitionPenalty(
  tokens: ArrayLike<number>,
  settings: { n?: number; most?: number } = {},
): number {
  const { n = 3, most = 1 } = settings
  const all = tokens.length - n + 1
  if (all < 1) return 0
  const distinct = new Set<string>()
  for (let t = 0; t < all; t++) distinct.add(Array.from({ length: n }, (_, i) => tokens[t + i]).join())
  return distinct.size === all ? 0 : -(1 - distinct.size / all) * most
}
