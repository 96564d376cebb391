import type { ClassicAgent, Drawing } from 'agoge/browser'
import { cartPole, createVectorEnvironment, drawEnv } from 'agoge/browser'

/** Milliseconds of one CartPole step. */
const tau = 20

/** One pole apart from training, balanced in real time by the current greedy policy. */
export interface WatchedPole {
  /**
   * Takes the steps that are due. Returns a picture if there were any, and the number of steps since the pole last
   * fell.
   */
  play(): { drawing: Drawing; length: number } | undefined
}

export function watchedPole(agent: Pick<ClassicAgent, 'predict'>, seed: number): WatchedPole {
  const environment = createVectorEnvironment(cartPole, { numEnvs: 1, seed: seed + 1_000_000 })
  environment.reset()
  let due = performance.now()
  return {
    play() {
      const now = performance.now()
      if (due > now) return undefined
      // After a long update the pole continues from where it was, without catching up.
      due = Math.max(due, now - 5 * tau)
      for (; due <= now; due += tau) {
        agent.predict(environment.observations, 1, environment.actions)
        environment.step()
      }
      return { drawing: drawEnv(environment), length: environment.lengths[0] }
    },
  }
}
