import { armAverages, bestArm, createBernoulliBandit, playBandit, thompson, ucb1 } from 'agoge/classic'
import type { BanditStrategy } from 'agoge/classic'
import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { clone, dot } from '../testbeds/choices/choices.ts'
import type { Choice } from '../testbeds/choices/choices.ts'

/** Easy bandits to learn on, hard ones to be tested on. */
const easy = { arms: 5, gap: 0.5, horizon: 60 }
const hard = { arms: 10, gap: 0.2, horizon: 400 }
/** The explorer's weight of its bonus, the best of 0.1, 0.3, 1 and 2 for hard bandits on seeds 201 to 220. */
const exploration = 0.1

type Setting = typeof easy
/** Plays a bandit in which one arm is better than all others. */
function play({ arms, gap, horizon }: Setting, seed: number, strategy: BanditStrategy): number {
  const best = createRandom('best', seed).int(arms)
  const means = Array.from({ length: arms }, (_, arm) => 0.5 + (arm === best ? gap / 2 : -gap / 2))
  const context = Object.fromEntries(means.map((value, arm) => [`mean${arm}`, value]))
  const definition = createBernoulliBandit({ arms, horizon, means: 'features' })
  return playBandit(definition, strategy, { seed, context }).regrets[horizon - 1]
}

/** What a model sees of an arm: how often it won and lost, its mean and how often it was pulled, or also the values of the explorer. */
type Input = 'history' | 'summary' | 'guided'
function view(input: Input, arms: number) {
  const averages = armAverages(arms)
  const { pulls, means } = averages
  let time = 0
  const base = (arm: number): number[] => {
    const n = pulls[arm]
    const seen = Number(n > 0)
    const elapsed = Math.log(1 + time)
    if (input === 'history')
      return [1, seen, elapsed, Math.log(1 + n * means[arm]), Math.log(1 + n * (1 - means[arm]))]
    const summary = [1, seen, elapsed, means[arm], Math.log(1 + n)]
    if (input === 'summary') return summary
    return [...summary, n === 0 ? 2 : Math.sqrt((exploration * Math.log(time + 1)) / n)]
  }
  return {
    // All products of two, so that each model is quadratic in what it sees.
    of: (arm: number): number[] => {
      const row = base(arm)
      const products: number[] = []
      for (let i = 0; i < row.length; i++) for (let k = i; k < row.length; k++) products.push(row[i] * row[k])
      return products
    },
    add(arm: number, reward: number) {
      averages.add(arm, reward)
      time++
    },
  }
}

/** The choices of the explorer on easy bandits, as a model sees them. */
function demonstrations(input: Input, seed: number, episodes: number): Choice[] {
  return Array.from({ length: episodes }, (_, episode) => {
    const seen = view(input, easy.arms)
    const explorer = ucb1(easy.arms, { exploration })
    const choices: Choice[] = []
    play(easy, 1000 * seed + 500 + episode, {
      choose(features) {
        const chosen = explorer.choose(features)
        choices.push({ rows: Array.from({ length: easy.arms }, (_, arm) => seen.of(arm)), chosen })
        return chosen
      },
      learn(arm, reward, features) {
        explorer.learn(arm, reward, features)
        seen.add(arm, reward)
      },
    })
    return choices
  }).flat()
}
function acting(weights: number[], input: Input, random: Random): BanditStrategy {
  const seen = view(input, hard.arms)
  return {
    choose: () => bestArm(hard.arms, (arm) => dot(weights, seen.of(arm)) + 1e-9 * random.next()),
    learn: (arm, reward) => seen.add(arm, reward),
  }
}

/** Expected regret of new, harder bandits. */
function tested({ seed, budget }: ArmRun, make: (random: Random) => BanditStrategy): { score: number } {
  const regrets = Array.from({ length: budget.bandits }, (_, k) => {
    const bandit = 1000 * seed + k
    return play(hard, bandit, make(createRandom('acting', bandit)))
  })
  return { score: average(regrets) }
}

function distilled(run: ArmRun, input: Input): ArmResult {
  const { weights, agreement } = clone(demonstrations(input, run.seed, run.budget.episodes), 10)
  return { ...tested(run, (random) => acting(weights, input, random)), measures: { agreement } }
}

/** Every arm once, then the best so far. */
function greedy(): BanditStrategy {
  const averages = armAverages(hard.arms)
  const { means, pulls } = averages
  return {
    choose: () => bestArm(hard.arms, (arm) => (pulls[arm] === 0 ? 1 : means[arm])),
    learn: (arm, reward) => averages.add(arm, reward),
  }
}

export default definePaper({
  id: 'evolve-bandits',
  title: 'EVOLvE: Evaluating and Optimizing LLMs For Exploration',
  theme: 'bandits',
  claim:
    'A small model that is distilled from an explorer on easy bandits, and is given the values of the explorer in its input, has less regret on new, harder bandits than one that sees summary statistics or the history, and than the greedy choice.',
  arms: {
    guided: (run) => distilled(run, 'guided'),
    summary: (run) => distilled(run, 'summary'),
    history: (run) => distilled(run, 'history'),
    greedy: (run) => tested(run, greedy),
    explorer: (run) => tested(run, () => ucb1(hard.arms, { exploration })),
    thompson: (run) => tested(run, (random) => thompson(hard.arms, random)),
    uniform: (run) => tested(run, (random) => ({ choose: () => random.int(hard.arms), learn: () => {} })),
  },
  metric: 'expected regret of 400 pulls of ten arms with a gap of 0.2, mean over 40 new bandits',
  higherIsBetter: false,
  pairing: 'seed',
  effect: { better: 'guided', than: ['summary', 'history', 'greedy'], atLeast: 4 },
  checks: [
    { about: 'the guided model does what the explorer does', arm: 'guided', of: 'agreement', atLeast: 0.97 },
    { about: 'the others learn much of it', arm: ['summary', 'history'], of: 'agreement', atLeast: 0.85 },
    { about: 'the explorer is worth learning from', arm: 'explorer', of: 'score', atMost: 34 },
  ],
  control: { positive: { better: 'explorer', than: 'uniform', atLeast: 20 }, same: 'greedy' },
  budget: { episodes: 12, bandits: 40 },
  quick: { episodes: 2, bandits: 2 },
  simplifications: [
    'a softmax that is quadratic in what is seen of each arm, fitted to convergence, stands for a fine-tuned language model; numbers stand for text',
    'the value of the explorer (its bonus) is given at training and test; that the guided model can act as the explorer follows by construction, that the others cannot does not',
    'bandits without contexts; demonstrations are 12 episodes of 60 pulls of five arms with a gap of 0.5',
    'the weight of the bonus was the best of 0.03, 0.1, 0.3, 1 and 2 for the explorer on hard bandits of seeds 201 to 204',
  ],
})
