import { linearise } from '../episode/linearise.ts'
import type { GroupRewards } from './advantages/index.ts'
import { grpoAdvantages, isUniform } from './advantages/index.ts'
import type { Aggregation } from './losses/index.ts'
import { tokenWeights } from './losses/index.ts'
import { trainedTokens } from './trained-tokens.ts'
import type { EpisodeGroup, PolicyUpdate } from './types.ts'

export interface GrpoSettings {
  /** Default: `grpoAdvantages` with the deviation. Any function from rewards of a group to advantages will do. */
  advantages?: (rewards: GroupRewards) => number[]
  /** Default 0.2. */
  clipLow?: number
  /** Default 0.28, DAPO's clip-higher. */
  clipHigh?: number
  /** Default token-mean over all judged episodes of the batch. */
  aggregation?: Aggregation
}

/**
 * Group relative policy optimisation: an episode is as good as it is better than its siblings on the same task.
 * No critic, no reference model. An episode's advantage goes to every token that the policy chose in it. Groups
 * whose members all got the same have nothing to say: they count in the normaliser and are not computed.
 *
 * Sources: DeepSeekMath (arXiv 2402.03300); clip-higher and token mean: DAPO (arXiv 2503.14476). With
 * `advantages: (r) => grpoAdvantages(r, { std: false })` and a constant aggregation it is Dr.GRPO (arXiv 2503.20783).
 * `optimisePolicy` has all that is left out here.
 */
export function grpo(settings: GrpoSettings = {}): (groups: readonly EpisodeGroup[]) => PolicyUpdate {
  const {
    advantages = grpoAdvantages,
    clipLow = 0.2,
    clipHigh = 0.28,
    aggregation = { mode: 'token-mean' },
  } = settings
  return (groups) => {
    const lengths = groups.flatMap(({ episodes, rewards }) =>
      episodes.map((episode, member) => (rewards[member] === null ? 0 : trainedTokens(episode))),
    )
    const weights = tokenWeights(lengths, aggregation)
    let at = 0
    const sequences = groups.flatMap(({ episodes, rewards }) => {
      const start = at
      at += episodes.length
      if (isUniform(rewards)) return []
      const values = advantages(rewards)
      return episodes.flatMap((episode, member) =>
        rewards[member] === null
          ? []
          : linearise(episode, () => ({
              advantage: values[member],
              weights: { rl: weights[start + member] },
            })),
      )
    })
    return {
      sequences,
      loss: { name: 'ppo', clipLow, clipHigh },
      metrics: { groupsWithoutSignal: share(groups, ({ rewards }) => isUniform(rewards)) },
    }
  }
}

function share<T>(items: readonly T[], test: (item: T) => boolean): number {
  return items.length === 0 ? 0 : items.filter(test).length / items.length
}
