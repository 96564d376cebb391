import type { Random } from '../../engine/random/index.ts'
import { bestArm } from './strategy.ts'
import type { BanditStrategy } from './strategy.ts'

/**
 * Each arm with the chance that it is the best, given what was seen: the highest of draws from the posteriors of arms
 * that pay 0 or 1, whose prior is uniform (Thompson 1933; Agrawal & Goyal 2012). Rewards in between count as a coin
 * with that chance would on average.
 */
export function thompson(arms: number, random: Random): BanditStrategy {
  const successes = new Float64Array(arms)
  const failures = new Float64Array(arms)
  return {
    choose: () => bestArm(arms, (arm) => betaDraw(1 + successes[arm], 1 + failures[arm], random)),
    learn(arm, reward) {
      successes[arm] += reward
      failures[arm] += 1 - reward
    },
  }
}

/** A draw from a beta distribution whose parameters are both above 0. */
export function betaDraw(a: number, b: number, random: Random): number {
  const x = gammaDraw(a, random)
  return x / (x + gammaDraw(b, random))
}

/** A draw from a gamma distribution of scale 1 (Marsaglia & Tsang 2000). */
function gammaDraw(shape: number, random: Random): number {
  if (shape < 1) return gammaDraw(shape + 1, random) * (1 - random.next()) ** (1 / shape)
  const d = shape - 1 / 3
  for (;;) {
    const x = random.normal()
    const v = (1 + x / (3 * Math.sqrt(d))) ** 3
    if (v > 0 && Math.log(1 - random.next()) < x ** 2 / 2 + d * (1 - v + Math.log(v))) return d * v
  }
}
