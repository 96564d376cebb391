import type { Scored } from '../../episode/score.ts'
import type { Episode } from '../../episode/types.ts'

/**
 * 1 for a right answer, `partial` times the verifier's score for one that is right in part. Keep it small: what is paid
 * for parts is paid for failures, and enough of it teaches the half that is easy.
 *
 * @param settings.partial from 0 (success alone) to 1; default 0.2.
 */
export function reasoningReward({ partial = 0.2 }: { partial?: number } = {}): (
  episode: Episode,
) => Scored<'success' | 'partial'> | null {
  return (episode) => {
    if (episode.success === null) return null
    const score = episode.rewards.find(({ name }) => name === 'part:score')?.value ?? 0
    const parts = {
      success: episode.success ? 1 : 0,
      partial: episode.success ? 0 : partial * score,
    }
    return { value: parts.success + parts.partial, parts }
  }
}
