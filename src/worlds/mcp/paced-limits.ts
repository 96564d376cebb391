import type { EpisodeLimits } from '../../agent/episode-state.ts'

// What a wave asks for at most: sessions at a time, calls that one call may have to repeat to set its scene, episodes in all.
const sessions = 16
const repeats = 8
const episodes = 128

/**
 * Deadlines that leave time for all calls of a wave to take their turns at the rate of a server: waiting for one's turn is no fault of
 * the server, and must not mask an episode.
 *
 * @param callsPerSecond undefined = as fast as it answers.
 */
export function pacedLimits(limits: EpisodeLimits, callsPerSecond: number | undefined): EpisodeLimits {
  if (callsPerSecond === undefined) return limits
  const tool = (sessions * repeats) / callsPerSecond
  const episode = (episodes * limits.turns * 2) / callsPerSecond
  return {
    ...limits,
    toolDeadlineSeconds: limits.toolDeadlineSeconds + tool,
    deadlineSeconds: limits.deadlineSeconds + tool + episode,
  }
}
