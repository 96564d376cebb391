import type { ClassicAgent, Drawing } from 'agoge/browser'
import { cartPole, createVectorEnvironment, drawEnv } from 'agoge/browser'

/** Milliseconds that a step of CartPole stands for. */
const tau = 20

/** One pole apart from training, balanced in real time by the greedy policy as it stands. */
export interface WatchedPole {
  /** Takes the steps that are due; a picture where there were any, and for how many steps the pole has been up. */
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
      // After a long update the pole goes on where it was and does not race.
      due = Math.max(due, now - 5 * tau)
      for (; due <= now; due += tau) {
        agent.predict(environment.observations, 1, environment.actions)
        environment.step()
      }
      return { drawing: drawEnv(environment), length: environment.lengths[0] }
    },
  }
}
