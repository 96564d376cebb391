import { AgogeError } from '../../error.ts'

/** For methods that learn from whole episodes. */
export interface WholeEpisodes {
  /**
   * An episode that has not ended after so many steps stops training: nothing would ever be learned from it, and its steps
   * would fill the memory. Default 100 000.
   */
  maxEpisodeSteps?: number
}

export const longestEpisode = 100_000

/** The error for a world that does not end. */
export const endlessEpisode = (
  algorithm: string,
  world: string,
  { slot, steps }: { slot: number; steps: number },
): AgogeError =>
  new AgogeError(
    `${algorithm} learns from whole episodes, and one of ${world} has not ended: step ${steps} of slot ${slot}, neither terminated nor truncated`,
    {
      code: 'endless-episode',
      given: { world, slot, step: steps, field: 'terminated' },
      expected: `an end within ${steps} steps (maxEpisodeSteps)`,
      hint: 'give the world a limit (maxSteps, or the wrapper timeLimit), raise maxEpisodeSteps, or use ppo or dqn',
    },
  )
