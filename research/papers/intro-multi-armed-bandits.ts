import { definePaper } from '../runner/paper.ts'
import { average } from 'agoge/statistics'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import {
  decayingGreedy,
  exp3,
  exploreFirst,
  playBandit,
  thompson,
  ucb1,
  createBernoulliBandit,
} from 'agoge/classic'
import type { BanditStrategy } from 'agoge/classic'
import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'

const arms = 10

/** Mean regret over the seed's bandits, which are the same for every strategy. */
function regret(
  { seed, budget }: ArmRun,
  make: (horizon: number, random: Random) => BanditStrategy,
): ArmResult {
  const definition = createBernoulliBandit({ arms, horizon: budget.horizon })
  const plays = Array.from({ length: budget.bandits }, (_, bandit) => {
    const strategy = make(budget.horizon, createRandom('strategy', seed, bandit))
    const { regrets, rewards } = playBandit(definition, strategy, {
      seed,
      context: { instance: 1000 * seed + bandit },
    })
    const [early, whole] = [regrets[Math.floor(budget.horizon / 2) - 1], regrets[budget.horizon - 1]]
    return { whole, late: (whole - early) / whole, reward: average(rewards) }
  })
  const mean = (of: 'whole' | 'late' | 'reward'): number => average(plays.map((play) => play[of]))
  return { score: mean('whole'), measures: { late: mean('late'), reward: mean('reward') } }
}

export default definePaper({
  id: 'intro-multi-armed-bandits',
  title: 'Introduction to Multi-Armed Bandits',
  theme: 'bandits',
  claim:
    'Against arms whose means stay, exploration that looks at what was learned (UCB1) regrets less than exploration that does not (explore-first, decaying epsilon), and than what is safe against an opponent (EXP3).',
  arms: {
    ucb1: (run) => regret(run, () => ucb1(arms)),
    thompson: (run) => regret(run, (_, random) => thompson(arms, random)),
    'explore-first': (run) =>
      regret(run, (horizon) =>
        exploreFirst(arms, { rounds: Math.ceil((horizon / arms) ** (2 / 3) * Math.log(horizon) ** (1 / 3)) }),
      ),
    'decaying-epsilon': (run) => regret(run, (_, random) => decayingGreedy(arms, random)),
    exp3: (run) =>
      regret(run, (horizon, random) =>
        exp3(arms, { learningRate: Math.sqrt((2 * Math.log(arms)) / (horizon * arms)) }, random),
      ),
    // Explores for all of its pulls.
    uniform: (run) => regret(run, (horizon) => exploreFirst(arms, { rounds: Math.ceil(horizon / arms) })),
  },
  metric: 'regret after 5000 pulls of ten arms that pay 0 or 1, mean over four bandits',
  higherIsBetter: false,
  pairing: 'seed',
  effect: {
    better: 'ucb1',
    than: ['explore-first', 'decaying-epsilon', 'exp3'],
    atLeast: 1.1,
    scale: 'ratio',
  },
  checks: [
    { about: 'what it learned is used: most regret is early', arm: 'ucb1', of: 'late', atMost: 0.45 },
    {
      about: 'nothing learned is used: regret is even',
      arm: 'uniform',
      of: 'late',
      atLeast: 0.45,
      atMost: 0.55,
    },
    { about: 'blind exploration comes first', arm: 'explore-first', of: 'late', atMost: 0.2 },
    {
      about: 'rewards are neither rare nor certain',
      arm: 'uniform',
      of: 'reward',
      atLeast: 0.2,
      atMost: 0.8,
    },
  ],
  control: { positive: { better: 'ucb1', than: 'uniform', atLeast: 1.5 } },
  budget: { horizon: 5000, bandits: 4 },
  quick: { horizon: 200, bandits: 2 },
  simplifications: [
    'every strategy has the constants of the book, for 5000 pulls and ten arms; the bounds of the book are about how regret grows',
  ],
})
