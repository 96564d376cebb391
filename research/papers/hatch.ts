import { armAverages, bestArm, createVectorEnvironment, linUcb, createLinearBandit } from 'agoge/classic'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'

const arms = 5
const dimensions = 4
/** Budget in pulls per arriving user. */
const ratio = 0.3
/** Users are grouped by the signs of their features. */
const groups = 2 ** dimensions
const groupOf = (user: Float32Array): number =>
  user.reduce((code, value) => 2 * code + (value > 0 ? 1 : 0), 0)

/** Chooses an arm for a user and estimates its reward. */
interface Lower {
  choose(user: Float32Array): number
  estimate(arm: number, user: Float32Array): number
  learn(arm: number, reward: number, user: Float32Array): void
}
/** Whether to buy a pull for a user; `expected` is the estimated reward of the best arm. */
type Spend = (user: Float32Array, expected: number, left: { budget: number; users: number }) => boolean

/** Expected rewards of the bought pulls. */
function reward({ seed, budget }: ArmRun, lower: Lower, spend: Spend): ArmResult {
  const definition = createLinearBandit({ arms, dimensions, horizon: budget.users })
  const environment = createVectorEnvironment(definition, {
    numEnvs: 1,
    seed,
    contextFor: () => ({ instance: seed, noise: 0.3 }),
  })
  environment.reset()
  const user = new Float32Array(dimensions)
  const served = armAverages(groups)
  let [total, last] = [0, 0]
  let money = Math.floor(ratio * budget.users)
  for (let users = budget.users; users > 0; users--) {
    user.set(environment.observations)
    const arm = lower.choose(user)
    environment.actions[0] = arm
    const buys = money > 0 && spend(user, lower.estimate(arm, user), { budget: money, users })
    const expected = definition.armMean(environment.envs, 0, arm)
    environment.step()
    served.add(groupOf(user), buys ? 1 : 0)
    if (!buys) continue
    money--
    last = 1 - users / budget.users
    total += expected
    lower.learn(arm, environment.rewards[0], user)
  }
  // How unequally groups are served, when the money ended, and whether it was spent.
  const spread = Math.max(...served.means) - Math.min(...served.means)
  return { score: total, measures: { spread, last, spent: 1 - money / Math.floor(ratio * budget.users) } }
}

/**
 * The probability of serving each group: the groups with the highest estimated reward that the remaining budget covers,
 * the last one in part (a linear program over groups).
 */
function byGroup(seed: number): Spend {
  const random = createRandom('allocation', seed)
  const value = armAverages(groups)
  return (user, expected, left) => {
    const own = groupOf(user)
    value.add(own, expected)
    const { pulls: seen, means } = value
    const all = seen.reduce((a, b) => a + b, 0)
    const better = seen.reduce((sum, count, group) => sum + (means[group] > means[own] ? count : 0), 0)
    const chance = (left.budget / left.users - better / all) / (seen[own] / all)
    return random.next() < chance
  }
}

/** Serves the users whose own estimate is among the highest of the last thousand that the remaining budget covers. */
function byUser(): Spend {
  const recent: number[] = []
  return (_, expected, left) => {
    recent.push(expected)
    if (recent.length > 1000) recent.shift()
    const better = recent.reduce((sum, value) => sum + (value > expected ? 1 : 0), 0)
    return better < (left.budget / left.users) * recent.length
  }
}

/** A bandit for each group, which knows no more of a user than the group. */
function groupUcb(): Lower {
  const own = Array.from({ length: groups }, () => armAverages(arms))
  const bonus = (pulls: number): number => (pulls === 0 ? Infinity : 1 / Math.sqrt(pulls))
  return {
    choose(user) {
      const { pulls, means } = own[groupOf(user)]
      return bestArm(arms, (arm) => means[arm] + bonus(pulls[arm]))
    },
    estimate: (arm, user) => own[groupOf(user)].means[arm],
    learn: (arm, value, user) => own[groupOf(user)].add(arm, value),
  }
}

/** `alpha` is the best of 0.5, 1, 2, 4 and 8 for each way of spending, on other seeds. */
const linear = (alpha: number): Lower => linUcb(arms, { dimensions, alpha })

export default definePaper({
  id: 'hatch',
  title: 'Hierarchical Adaptive Contextual Bandits for Resource Constraint based Recommendation',
  theme: 'bandits',
  claim:
    'Where there is money for some users only, an upper level that allots it to groups of users, over a bandit on all features, earns more than greedy spending, paced or not, and than the same upper level over a bandit for each group.',
  arms: {
    hierarchical: (run) => reward(run, linear(2), byGroup(run.seed)),
    'greedy-first-come': (run) => reward(run, linear(1), () => true),
    'greedy-paced': (run) => reward(run, linear(4), byUser()),
    'group-bandits': (run) => reward(run, groupUcb(), byGroup(run.seed)),
    random: (run) => {
      const random = createRandom('chance', run.seed)
      return reward(run, linear(1), () => random.next() < ratio)
    },
  },
  metric: 'sum of expected rewards of 4000 users, with money for 1200 pulls',
  pairing: 'seed',
  effect: {
    better: 'hierarchical',
    than: ['greedy-first-come', 'greedy-paced', 'group-bandits'],
    atLeast: 50,
  },
  checks: [
    { about: 'the money is spent', arm: ['hierarchical', 'greedy-paced'], of: 'spent', atLeast: 0.98 },
    { about: 'some groups are served, others not', arm: 'hierarchical', of: 'spread', atLeast: 0.5 },
    { about: 'groups are served alike', arm: 'random', of: 'spread', atMost: 0.2 },
    { about: 'the money ends early', arm: 'greedy-first-come', of: 'last', atMost: 0.31 },
  ],
  control: { positive: { better: 'hierarchical', than: 'random', atLeast: 50 }, same: 'greedy-first-come' },
  budget: { users: 4000 },
  quick: { users: 200 },
  simplifications: [
    'groups by the signs of features stand for learned groups of users',
    'greedy spending that is paced, which the paper does not compare with, shows what the groups add',
    'every pull costs the same, so that the greedy ratio of reward and cost is the reward',
  ],
})
