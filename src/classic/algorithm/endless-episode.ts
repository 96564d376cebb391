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

/** The error for an environment that does not end. */
export const endlessEpisode = (
  algorithm: string,
  environment: string,
  { envIndex, steps }: { envIndex: number; steps: number },
): AgogeError =>
  new AgogeError(
    `${algorithm} learns from whole episodes, and one of ${environment} has not ended: step ${steps} of slot ${envIndex}, neither terminated nor truncated`,
    {
      code: 'endless-episode',
      given: { environment, envIndex, step: steps, field: 'terminated' },
      expected: `an end within ${steps} steps (maxEpisodeSteps)`,
      hint: 'give the environment a limit (maxSteps, or the wrapper timeLimit), raise maxEpisodeSteps, or use ppo or dqn',
    },
  )
