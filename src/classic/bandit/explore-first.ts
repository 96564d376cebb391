import type { Random } from '../../engine/random/index.ts'
import { armAverages, bestArm } from './strategy.ts'
import type { BanditStrategy } from './strategy.ts'

/**
 * Pulls every arm `rounds` times, then for ever the one of the highest mean (Slivkins 2019, "Introduction to
 * Multi-Armed Bandits", algorithm 1.1). For a horizon T that is known, (T / arms)^(2/3) (ln T)^(1/3) rounds are right up to
 * a constant.
 */
export function exploreFirst(arms: number, { rounds }: { rounds: number }): BanditStrategy {
  const averages = armAverages(arms)
  let time = 0
  return {
    choose: () => (time < rounds * arms ? time % arms : bestArm(arms, (arm) => averages.means[arm])),
    learn(arm, reward) {
      if (time++ < rounds * arms) averages.add(arm, reward)
    },
  }
}

/**
 * With a chance that falls as t^(-1/3) (arms ln t)^(1/3) any arm, else the one of the highest mean (Slivkins 2019,
 * algorithm 1.2). It needs no horizon, and its exploration does not look at what was learned.
 */
export function decayingGreedy(arms: number, random: Random): BanditStrategy {
  const averages = armAverages(arms)
  let time = 0
  return {
    choose() {
      time++
      const chance = ((arms * Math.log(time + 1)) / time) ** (1 / 3)
      return random.next() < chance ? random.int(arms) : bestArm(arms, (arm) => averages.means[arm])
    },
    learn: (arm, reward) => averages.add(arm, reward),
  }
}
