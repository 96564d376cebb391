import { createVectorEnvironment } from '../environment/index.ts'
import type { Context } from '../environment/index.ts'
import { expectedRegret } from '../environments/bandit/index.ts'
import type { BanditDefinition } from '../environments/bandit/index.ts'
import type { BanditStrategy } from './strategy.ts'

/** What a strategy got out of one episode, by pull. */
export interface BanditPlay {
  rewards: Float64Array
  /** Expected regret against the best arm of each pull, added up so far: free of the chance of rewards. */
  regrets: Float64Array
}

/** Plays one episode of a bandit with a strategy. The same seed and context are the same bandit. */
export function playBandit(
  definition: BanditDefinition,
  strategy: BanditStrategy,
  { seed = 0, context = {} }: { seed?: number; context?: Context } = {},
): BanditPlay {
  const environment = createVectorEnvironment(definition, { numEnvs: 1, seed, contextFor: () => context })
  environment.reset()
  const { numEnvs, observations, actions, rewards: rewarded, terminated, truncated } = environment
  const seen = observations.slice()
  const rewards: number[] = []
  const regrets: number[] = []
  let regret = 0
  do {
    seen.set(observations)
    actions[0] = strategy.choose(seen)
    regret += expectedRegret(definition, numEnvs, 0)
    environment.step()
    strategy.learn(actions[0], rewarded[0], seen)
    rewards.push(rewarded[0])
    regrets.push(regret)
  } while (terminated[0] === 0 && truncated[0] === 0)
  return { rewards: Float64Array.from(rewards), regrets: Float64Array.from(regrets) }
}
