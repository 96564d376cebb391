import { armAverages, bestArm } from './strategy.ts'
import type { BanditStrategy } from './strategy.ts'

/**
 * The arm whose mean may be highest: mean + sqrt(exploration * ln t / pulls) (Auer, Cesa-Bianchi & Fischer 2002, where
 * `exploration` is 2, the default). Its regret grows with the logarithm of time.
 */
export function ucb1(arms: number, { exploration = 2 }: { exploration?: number } = {}): BanditStrategy {
  const averages = armAverages(arms)
  const { pulls, means } = averages
  let time = 0
  return {
    choose: () =>
      bestArm(arms, (arm) =>
        pulls[arm] === 0 ? Infinity : means[arm] + Math.sqrt((exploration * Math.log(time)) / pulls[arm]),
      ),
    learn(arm, reward) {
      time++
      averages.add(arm, reward)
    },
  }
}
