import { definePaper } from '../runner/paper.ts'
import { average } from 'agoge/statistics'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { armAverages, bestArm, playBandit, createBernoulliBandit } from 'agoge/classic'
import type { ArmAverages } from 'agoge/classic'
import { createRandom, uniformAt } from 'agoge/engine'

const arms = 10
/** Expert share of the data, from uniform to nearly expert data; the rest is random. */
const shares = [0, 0.3, 0.6, 0.9]
/** Probability that a mean lies outside its interval. */
const failure = 0.1

/** Expected loss of the choice from data in a context, for the data composition where it is largest. */
function worstLoss({ seed, budget }: ArmRun, choose: (data: ArmAverages) => number): ArmResult {
  const unseen: number[] = []
  const losses = shares.map((share) => {
    let missing = 0
    const loss = average(
      Array.from({ length: budget.contexts }, (_, index) => {
        const instance = 1000 * seed + index
        const means = Array.from({ length: arms }, (_, arm) => uniformAt(instance, 'means', arm))
        const expert = bestArm(arms, (arm) => means[arm])
        const random = createRandom('behaviour', seed, share, index)
        const data = armAverages(arms)
        playBandit(
          createBernoulliBandit({ arms, horizon: budget.samples, means: 'features' }),
          {
            choose: () => (random.next() < share ? expert : random.int(arms)),
            learn: (arm, reward) => data.add(arm, reward),
          },
          { seed: instance, context: Object.fromEntries(means.map((value, arm) => [`mean${arm}`, value])) },
        )
        missing += data.pulls.filter((pulls) => pulls === 0).length / arms / budget.contexts
        return means[expert] - means[choose(data)]
      }),
    )
    unseen.push(missing)
    return loss
  })
  const measures = { unseenByChance: unseen[0], unseenNearExpert: unseen[unseen.length - 1] }
  return { score: Math.max(...losses), measures }
}

/** Hoeffding's half width, for all arms simultaneously. */
const width = (pulls: number): number => Math.sqrt(Math.log((2 * arms) / failure) / (2 * pulls))

export default definePaper({
  id: 'tale-of-pessimism',
  title: 'Bridging Offline Reinforcement Learning and Imitation Learning: A Tale of Pessimism',
  theme: 'offline-imitation',
  claim:
    'Choosing by the lower confidence bound suits fixed data of whatever composition, where the empirically best arm and the one of the best posterior mean need coverage and imitation needs an expert.',
  arms: {
    'lower-bound': (run) =>
      worstLoss(run, ({ pulls, means }) =>
        bestArm(arms, (arm) => (pulls[arm] === 0 ? -Infinity : means[arm] - width(pulls[arm]))),
      ),
    'empirically-best': (run) =>
      worstLoss(run, ({ pulls, means }) =>
        bestArm(arms, (arm) => (pulls[arm] === 0 ? -Infinity : means[arm])),
      ),
    // The means are drawn evenly from 0 to 1: Bayes' rule for data that were chosen without knowing them.
    'posterior-mean': (run) =>
      worstLoss(run, ({ pulls, means }) =>
        bestArm(arms, (arm) => (1 + pulls[arm] * means[arm]) / (2 + pulls[arm])),
      ),
    imitation: (run) => worstLoss(run, ({ pulls }) => bestArm(arms, (arm) => pulls[arm])),
    'any-arm': (run) => worstLoss(run, () => 0),
  },
  metric: 'expected loss against the best arm, mean over contexts, in the worst of four compositions of data',
  higherIsBetter: false,
  budget: { contexts: 100, samples: 50 },
  quick: { contexts: 5, samples: 20 },
  pairing: 'seed',
  effect: { better: 'lower-bound', than: ['empirically-best', 'posterior-mean', 'imitation'], atLeast: 0.02 },
  checks: [
    { about: 'random data cover the arms', arm: 'lower-bound', of: 'unseenByChance', atMost: 0.02 },
    { about: 'data of an expert do not', arm: 'lower-bound', of: 'unseenNearExpert', atLeast: 0.4 },
  ],
  control: { positive: { better: 'lower-bound', than: 'any-arm', atLeast: 0.1 }, same: 'empirically-best' },
  simplifications: [
    'the posterior mean, which the paper does not compare with, knows how the means are drawn',
    'contextual bandits alone: the Markov decision processes of the paper are left out',
  ],
})
