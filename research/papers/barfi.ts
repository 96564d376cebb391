import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { each } from '../testbeds/each.ts'
import { actions, cells, chances, exactReturn, gamma } from '../testbeds/hint-grid/hint-grid.ts'
import { horizon, kinds, maze, play } from '../testbeds/hint-grid/hint-grid.ts'
import type { Episode, Kind } from '../testbeds/hint-grid/hint-grid.ts'
import { cosine } from '../testbeds/prefix-tree/index.ts'

/** Episodes of an update; those that the weight of the heuristic is learned from, and how often; terms of the Neumann series. */
const [batch, memory, phase, terms] = [10, 50, 2, 2]
/** The most that the weight of the heuristic changes at once. */
const outerRate = 0.1

/** Discounted rewards from each step on. */
function toGo(rewards: readonly number[]): number[] {
  const sums = [...rewards]
  for (let t = sums.length - 2; t >= 0; t--) sums[t] += gamma * sums[t + 1]
  return sums
}

/** Policy gradient of a part of the reward, against its mean at each step. Episodes of an older policy are weighted by their ratio. */
function gradientOf(theta: Float64Array, episodes: readonly Episode[], part: number): Float64Array {
  const policy = each(cells).map((cell) => chances(theta, cell))
  const gradient = new Float64Array(theta.length)
  const returns = episodes.map(({ parts }) => toGo(parts.map((row) => row[part])))
  const base = each(horizon).map(
    (t) => average(returns.flatMap((row) => (t < row.length ? [row[t]] : []))) || 0,
  )
  for (const [e, episode] of episodes.entries()) {
    const now = episode.cells.reduce((sum, cell, t) => sum + Math.log(policy[cell][episode.actions[t]]), 0)
    const ratio = Math.min(2, Math.exp(now - episode.chance)) / episodes.length
    for (const [t, cell] of episode.cells.entries()) {
      const by = gamma ** t * ratio * (returns[e][t] - base[t])
      if (by === 0) continue
      gradient[cell * actions + episode.actions[t]] += by
      for (let a = 0; a < actions; a++) gradient[cell * actions + a] -= by * policy[cell][a]
    }
  }
  return gradient
}

const blended = (theta: Float64Array, episodes: readonly Episode[], weight: number): Float64Array => {
  const [primary, heuristic] = [0, 1].map((part) => gradientOf(theta, episodes, part))
  return primary.map((value, k) => value + weight * heuristic[k])
}

/** Cosine between the gradient of the primary return, taken through a few further updates of the policy, and that of the heuristic. */
function alignment(theta: Float64Array, episodes: readonly Episode[], weight: number, rate: number): number {
  // Other episodes for the primary gradient than for those that it is multiplied with.
  const [some, others] = [0, 1].map((rest) => episodes.filter((_, e) => e % 2 === rest))
  let ahead = gradientOf(theta, some, 0)
  if (ahead.every((value) => value === 0)) return 0
  const total = ahead.slice()
  const here = blended(theta, others, weight)
  for (let term = 0; term < terms; term++) {
    // The next term of the Neumann series of the inverse Hessian, whose product is a difference of gradients.
    const step = 0.1 / Math.hypot(...ahead)
    const moved = blended(
      theta.map((value, k) => value + step * ahead[k]),
      others,
      weight,
    )
    ahead = ahead.map((value, k) => value + (rate * (moved[k] - here[k])) / step)
    for (const [k, value] of ahead.entries()) total[k] += value
  }
  return cosine(total, gradientOf(theta, others, 1))
}

type Arm = 'learned' | 'primary' | 'sum' | 'potential' | 'annealed'

/** Learning rate of the policy, and weight of the heuristic, which is the first one where it changes. */
type Setting = readonly [rate: number, weight: number]

/** Trains with one heuristic. */
function trained({ seed, budget }: ArmRun, kind: Kind, arm: Arm, [rate, first]: Setting) {
  const map = maze(seed, kind)
  const random = createRandom('training', seed, kind)
  const theta = new Float64Array(cells * actions)
  let weight = first
  let recent: Episode[] = []
  const scores: number[] = []
  for (let update = 1; update <= budget.updates; update++) {
    const policy = each(cells).map((cell) => chances(theta, cell))
    const episodes = each(batch).map(() => play(map, policy, random, arm === 'potential'))
    if (arm === 'annealed') weight = first * Math.max(0, 1 - (2 * (update - 1)) / budget.updates)
    for (const [k, value] of blended(theta, episodes, weight).entries()) theta[k] += rate * value
    if (update % 4 === 0) scores.push(exactReturn(map, theta))
    recent = [...recent, ...episodes].slice(-memory)
    if (arm === 'learned' && update % phase === 0)
      weight += outerRate * alignment(theta, recent, weight, rate)
  }
  return { score: average(scores), weight }
}

/** With each of the heuristics. */
function run(input: ArmRun, arm: Arm, setting: Setting): ArmResult {
  const found = kinds.map((kind) => trained(input, kind, arm, setting))
  const measures = Object.fromEntries(
    kinds.flatMap((kind, k) => [
      [kind, found[k].weight],
      [`${kind}Return`, found[k].score],
    ]),
  )
  return { score: average(found.map(({ score }) => score)), measures }
}

/** Best of the grid of each arm on seeds 201 to 210. */
const settings: Record<Arm, Setting> = {
  learned: [100, 0.03],
  primary: [50, 0],
  sum: [100, 0.03],
  potential: [100, 1],
  annealed: [100, 0.03],
}

export default definePaper({
  id: 'barfi',
  title: 'Behavior Alignment via Reward Function Optimization',
  theme: 'rewards',
  claim:
    'A blend of primary reward and heuristic whose weight follows the gradient of the primary return learns faster, over helpful, flawed and misleading heuristics, than the primary reward alone, than a fixed sum, than the heuristic as a potential, and than a sum in which the heuristic fades.',
  arms: {
    learned: (input) => run(input, 'learned', settings.learned),
    primary: (input) => run(input, 'primary', settings.primary),
    sum: (input) => run(input, 'sum', settings.sum),
    potential: (input) => run(input, 'potential', settings.potential),
    annealed: (input) => run(input, 'annealed', settings.annealed),
    'large-sum': (input) => run(input, 'sum', [100, 0.3]),
    untrained: (input) => run({ ...input, budget: { updates: 4 } }, 'primary', settings.primary),
  },
  metric:
    'exact discounted return of the goal of a grid, mean over training with each of three heuristics; at most about 0.5',
  pairing: 'seed',
  effect: { better: 'learned', than: ['primary', 'sum', 'potential', 'annealed'], atLeast: 0.05 },
  checks: [
    { about: 'a helpful heuristic gains weight (from 0.03)', arm: 'learned', of: 'distance', atLeast: 0.1 },
    {
      about: 'a misleading heuristic loses its weight (from 0.03)',
      arm: 'learned',
      of: 'misleading',
      atMost: 0,
    },
    { about: 'a helpful heuristic helps', arm: 'large-sum', of: 'distanceReturn', atLeast: 0.3 },
    { about: 'a misleading heuristic harms', arm: 'large-sum', of: 'misleadingReturn', atMost: 0.15 },
    { about: 'no arm is saturated', arm: ['learned', 'primary'], of: 'score', atMost: 0.47 },
  ],
  control: { positive: { better: 'primary', than: 'untrained', atLeast: 0.1 }, same: 'sum' },
  budget: { updates: 48 },
  quick: { updates: 8 },
  simplifications: [
    'tables with plain policy gradients on a grid of 10 by 10; two terms of the Neumann series give the inverse Hessian, and the policy is not trained to the end between changes of the weight',
    'only the weight of the heuristic is learned, by the cosine of the two gradients, at most 0.1 at once; the weight of the primary reward, a constant for each step and the discount are not: with them training did not stay stable',
    'each arm has the best of learning rates 25, 50, 100 and 200 with weights 0.03, 0.1 and 0.3 (sum, annealed), 1, 3 and 10 (potential) or first weights 0, 0.03 and 0.1 (learned) on seeds 201 to 210; a weight of 0 is the primary reward',
    'grid, heuristics and budget were chosen on seeds 301 to 326, where the learned weight was about as good as the primary reward',
  ],
})
