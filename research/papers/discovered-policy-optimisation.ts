import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { garnet, optimised } from '../testbeds/mirror-learning/mirror-learning.ts'
import { each } from '../testbeds/each.ts'
import type { Garnet, Pull } from '../testbeds/mirror-learning/mirror-learning.ts'

/** The clip of PPO (Schulman et al. 2017). */
const clip =
  (range: number): Pull =>
  (ratio, advantage) =>
    (advantage > 0 ? ratio > 1 + range : ratio < 1 - range) ? -advantage : 0

const flat = (x: number): number => 1 - 1 / Math.cosh(x) ** 2
/** The closed form (Lu et al. 2022, section 5), whose published constants are 2 and 0.6. */
const closedForm =
  (alpha: number): Pull =>
  (ratio, advantage) => {
    if (advantage >= 0) return ratio > 1 ? -advantage * flat(((ratio - 1) * advantage) / alpha) : 0
    return ratio < 1 ? (-advantage / ratio) * flat((Math.log(ratio) * advantage) / (0.3 * alpha)) : 0
  }

/** A drift that is linear in eight features of ratio and advantage (Lu et al. 2022, section 4), and 0 where that is negative. */
const weighted =
  (weights: readonly number[]): Pull =>
  (ratio, advantage) => {
    const [x, y] = [ratio - 1, Math.log(ratio)]
    const [w, v] = [weights[0] + weights[1] * advantage, weights[2] + weights[3] * advantage]
    const [p, q] = [weights[4] + weights[5] * advantage, weights[6] + weights[7] * advantage]
    if (w * x + v * x * x + p * y + q * y * y <= 1e-6) return 0
    return -(w + 2 * v * x + (p + 2 * q * y) / ratio)
  }

interface Trained {
  pull: Pull
  rate: number
}

/** The mean score over environments, each with random numbers of its own. */
function scored(environments: readonly Garnet[], random: Random, { pull, rate }: Trained) {
  const runs = environments.map((environment) => optimised(environment, random, pull, rate))
  return { score: average(runs.map(({ score }) => score)), pulled: average(runs.map(({ pulled }) => pulled)) }
}

/** The best of 25 settings on the training environments, with as many runs in all as evolution has. */
function best(
  training: readonly Garnet[],
  random: Random,
  runs: number,
  make: (scale: number) => Pull,
  scales: readonly number[],
): Trained {
  const settings = scales.flatMap((scale) => [3, 6, 12, 24, 48].map((rate) => ({ pull: make(scale), rate })))
  const repeats = Math.max(1, Math.floor(runs / settings.length / training.length))
  const scores = settings.map((setting) =>
    average(each(repeats).map(() => scored(training, random, setting).score)),
  )
  return settings[scores.indexOf(Math.max(...scores))]
}

/** On seeds 201 to 220 the best of spreads 0.1, 0.2 and 0.4 with step 0.3, then of steps 0.03, 0.1, 0.3 and 1. */
const evolution = { spread: 0.2, step: 0.1 }

/** Evolution strategies (Salimans et al. 2017) on the eight weights and the logarithm of the rate, in mirrored pairs. */
function evolved(
  training: readonly Garnet[],
  random: Random,
  runs: number,
  { spread, step } = evolution,
): Trained {
  const pairs = 5
  const made = (point: readonly number[]): Trained => ({
    pull: weighted(point),
    rate: 12 * Math.exp(point[8]),
  })
  let mean = each(9).map(() => 0)
  const generations = Math.max(1, Math.floor(runs / (2 * pairs * training.length)))
  for (let generation = 0; generation < generations; generation++) {
    const tried = each(pairs).map(() => {
      const noise = each(9).map(() => random.normal())
      const [up, down] = [1, -1].map(
        (sign) =>
          scored(training, random, made(mean.map((value, k) => value + sign * spread * noise[k]))).score,
      )
      return { noise, gain: up - down }
    })
    const scale = Math.sqrt(average(tried.map(({ gain }) => gain ** 2))) + 1e-9
    mean = mean.map(
      (value, k) =>
        value + (step / pairs) * tried.reduce((sum, { noise, gain }) => sum + (gain / scale) * noise[k], 0),
    )
  }
  return made(mean)
}

/** Finds settings on training environments; the score is that on unseen ones. */
function found(
  { seed, budget }: ArmRun,
  find: (training: readonly Garnet[], random: Random) => Trained,
): ArmResult {
  const training = each(budget.training).map((k) => garnet(`${seed}/training ${k}`))
  const unseen = each(budget.unseen).map((k) => garnet(`${seed}/unseen ${k}`))
  const trained = find(training, createRandom('search', seed))
  const { score, pulled } = scored(unseen, createRandom('unseen', seed), trained)
  return { score, measures: { pulled, rate: trained.rate } }
}

export default definePaper({
  id: 'discovered-policy-optimisation',
  title: 'Discovered Policy Optimisation',
  theme: 'curriculum-autorl',
  claim:
    'A drift that evolution strategies discover on some environments returns more on unseen ones than the clip of PPO, and than no drift, all tuned on the same environments.',
  arms: {
    discovered: (run) => found(run, (training, random) => evolved(training, random, run.budget.runs)),
    'ppo-clip': (run) =>
      found(run, (training, random) =>
        best(training, random, run.budget.runs, clip, [0.05, 0.1, 0.2, 0.4, 0.8]),
      ),
    'no-drift': (run) =>
      found(run, (training, random) => best(training, random, run.budget.runs, () => () => 0, [0])),
    'closed-form': (run) =>
      found(run, (training, random) =>
        best(training, random, run.budget.runs, closedForm, [0.5, 1, 2, 4, 8]),
      ),
    untrained: () => 0,
  },
  metric: 'return of the last policy in unseen environments, exact: 0 of the uniform policy, 100 of the best',
  pairing: 'seed',
  effect: { better: 'discovered', than: ['ppo-clip', 'no-drift'], atLeast: 2 },
  checks: [
    {
      about: 'the drift changes updates',
      arm: ['discovered', 'ppo-clip', 'closed-form'],
      of: 'pulled',
      atLeast: 0.05,
    },
    { about: 'there is no drift', arm: 'no-drift', of: 'pulled', atMost: 0 },
  ],
  control: { positive: { better: 'ppo-clip', than: 'untrained', atLeast: 20 } },
  budget: { training: 6, unseen: 40, runs: 960 },
  quick: { training: 2, unseen: 2, runs: 20 },
  simplifications: [
    'tables of eight states and three actions, with exact values and the noise of a hundred samples, stand for Brax',
    'a drift that is linear in the features of the paper stands for its network',
    'six iterations of ten epochs',
  ],
})
