import { definePaper } from '../runner/paper.ts'
import { average } from 'agoge/statistics'
import type { ArmRun } from '../runner/paper.ts'
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
function regret({ seed, budget }: ArmRun, make: (horizon: number, random: Random) => BanditStrategy): number {
  const definition = createBernoulliBandit({ arms, horizon: budget.horizon })
  const regrets = Array.from({ length: budget.bandits }, (_, bandit) => {
    const strategy = make(budget.horizon, createRandom('strategy', seed, bandit))
    const context = { instance: 1000 * seed + bandit }
    return playBandit(definition, strategy, { seed, context }).regrets.at(-1) ?? 0
  })
  return average(regrets)
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
  },
  metric: 'regret after 10 000 pulls of ten arms that pay 0 or 1, mean over 10 bandits',
  higherIsBetter: false,
  seeds: 10,
  budget: { horizon: 10_000, bandits: 10 },
  quick: { horizon: 200, bandits: 2 },
  expect: { better: 'ucb1', than: ['explore-first', 'decaying-epsilon', 'exp3'] },
})
