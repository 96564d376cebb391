import { createVectorEnvironment, linUcb, createLinearBandit } from 'agoge/classic'
import { definePaper } from '../runner/paper.ts'
import type { ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'

const arms = 5
const dimensions = 4
/** Budget in pulls per arriving user. */
const ratio = 0.3
/** Users are grouped by the signs of their features. */
const groups = 2 ** dimensions
const groupOf = (user: Float32Array): number =>
  user.reduce((code, value) => 2 * code + (value > 0 ? 1 : 0), 0)

/** Whether to buy a pull for a user; `expected` is the estimated reward of the best arm. */
type Spend = (user: Float32Array, expected: number, left: { budget: number; users: number }) => boolean

/** Rewards of the bought pulls; LinUCB chooses the arm. */
function reward({ seed, budget }: ArmRun, spend: Spend): number {
  const definition = createLinearBandit({ arms, dimensions, horizon: budget.users })
  const environment = createVectorEnvironment(definition, {
    numEnvs: 1,
    seed,
    contextFor: () => ({ instance: seed, noise: 0.3 }),
  })
  environment.reset()
  const learner = linUcb(arms, { dimensions, alpha: 0.5 })
  const user = new Float32Array(dimensions)
  let total = 0
  for (let users = budget.users, money = Math.floor(ratio * users); users > 0; users--) {
    user.set(environment.observations)
    const arm = learner.choose(user)
    environment.actions[0] = arm
    const buys = money > 0 && spend(user, learner.estimate(arm, user), { budget: money, users })
    environment.step()
    if (!buys) continue
    money--
    total += environment.rewards[0]
    learner.learn(arm, environment.rewards[0], user)
  }
  return total
}

/**
 * The probability of serving each group: the groups with the highest estimated reward that the remaining budget covers,
 * the last one in part (a linear program over groups).
 */
function hierarchical(seed: number): Spend {
  const random = createRandom('allocation', seed)
  const seen = new Float64Array(groups)
  const value = new Float64Array(groups)
  return (user, expected, left) => {
    const own = groupOf(user)
    value[own] += (expected - value[own]) / ++seen[own]
    const all = seen.reduce((a, b) => a + b, 0)
    const better = seen.reduce((sum, count, group) => sum + (value[group] > value[own] ? count : 0), 0)
    const chance = (left.budget / left.users - better / all) / (seen[own] / all)
    return random.next() < chance
  }
}

export default definePaper({
  id: 'hatch',
  title: 'Hierarchical Adaptive Contextual Bandits for Resource Constraint based Recommendation',
  theme: 'bandits',
  claim:
    'Where there is money for some users only, an upper level that allots it to groups of users by what they are thought to pay earns more than spending it on whoever comes, or by chance.',
  arms: {
    hierarchical: (run) => reward(run, hierarchical(run.seed)),
    'first-come': (run) => reward(run, () => true),
    random: (run) => {
      const random = createRandom('chance', run.seed)
      return reward(run, () => random.next() < ratio)
    },
  },
  metric: 'sum of rewards of 10 000 users, with money for 3000 pulls',
  budget: { users: 10_000 },
  quick: { users: 200 },
  pairing: 'seed',
  effect: { better: 'hierarchical', than: ['first-come', 'random'], atLeast: 200 },
  simplifications: ['groups by the signs of features stand for learned groups of users'],
})
