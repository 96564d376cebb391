import type { GroupRewards } from './group.ts'
import { isUniform } from './group.ts'

/**
 * The groups worth training on, as indices: those whose members did not all get the same. What is missing from the
 * batch then is sampled anew from other tasks until it is full, so that its size in gradients stays constant.
 *
 * Source: DAPO (arXiv 2503.14476), eq. 11; SkyRL's `dynamic_sampling: filter` and `zero_variance_filter`, verl's
 * `filter_groups`. `grpo` without it leaves such groups uncomputed but counts them in the normaliser.
 *
 * @param settings the least spread (highest less lowest reward) that counts as a difference, default: any.
 */
export function informativeGroups(
  groups: readonly GroupRewards[],
  settings: { spread?: number } = {},
): number[] {
  const { spread = 0 } = settings
  return groups.flatMap((rewards, g) => {
    const judged = rewards.filter((reward) => reward !== null)
    return !isUniform(rewards) && Math.max(...judged) - Math.min(...judged) >= spread ? [g] : []
  })
}
