import { createAdam, createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { actions, cells, chances, exactReturn, gamma, horizon } from '../testbeds/hint-grid/hint-grid.ts'
import { each } from '../testbeds/each.ts'
import { kinds, maze, play } from '../testbeds/hint-grid/hint-grid.ts'
import type { Episode, Kind } from '../testbeds/hint-grid/hint-grid.ts'

const [batch, phase] = [10, 5]

/** Policy gradient of the weighted parts, episodes of an older policy weighted by their ratio, against the mean return of each time step. */
function gradientOf(theta: Float64Array, episodes: Episode[], weights: ArrayLike<number>): Float64Array {
  const policy = each(cells).map((cell) => chances(theta, cell))
  const gradient = new Float64Array(theta.length)
  const returns = episodes.map(({ parts }) => {
    let later = 0
    return parts
      .toReversed()
      .map((row) => (later = row[0] * weights[0] + row[1] * weights[1] + row[2] * weights[2] + gamma * later))
      .toReversed()
  })
  const base = each(horizon).map(
    (t) => average(returns.flatMap((row) => (t < row.length ? [row[t]] : []))) || 0,
  )
  for (const [e, episode] of episodes.entries()) {
    const now = episode.cells.reduce((sum, cell, t) => sum + Math.log(policy[cell][episode.actions[t]]), 0)
    const ratio = Math.min(2, Math.exp(now - episode.chance)) / episodes.length
    for (const [t, cell] of episode.cells.entries())
      for (let a = 0; a < actions; a++)
        gradient[cell * actions + a] +=
          gamma ** t *
          ratio *
          (returns[e][t] - base[t]) *
          (Number(a === episode.actions[t]) - policy[cell][a])
  }
  return gradient
}
const dot = (a: Float64Array, b: Float64Array): number => a.reduce((sum, v, k) => sum + v * b[k], 0)

type Arm = 'learned' | 'primary' | 'sum' | 'potential' | 'annealed'
/** Learning rate of the policy; and that of the weights of the reward, or the weight of the heuristic. */
const settings: Record<Arm, readonly number[]> = {
  learned: [100, 0.01],
  primary: [100, 0],
  sum: [100, 0.3],
  potential: [100, 1],
  annealed: [100, 0.3],
}

/** Trains with one heuristic; every `phase` updates the weights of the reward follow the gradient of the primary return. */
function trained({ seed, budget }: ArmRun, kind: Kind, arm: Arm, [rate, second]: readonly number[]) {
  const map = maze(seed, kind)
  const random = createRandom('training', seed, kind)
  const theta = new Float64Array(cells * actions)
  // Of the primary reward, of the heuristic, and of each step.
  const weights = Float32Array.of(1, arm === 'primary' ? 0 : arm === 'learned' ? 0.3 : second, 0)
  const adam = createAdam(3)
  let recent: Episode[] = []
  const scores: number[] = []
  const climb = (gradient: Float64Array, by: number) => gradient.forEach((g, k) => (theta[k] += by * g))
  for (let update = 0; update < budget.updates; update++) {
    if (arm === 'annealed') weights[1] = second * Math.max(0, 1 - (2 * update) / budget.updates)
    const policy = each(cells).map((cell) => chances(theta, cell))
    const episodes = each(batch).map(() => play(map, policy, random, arm === 'potential'))
    climb(gradientOf(theta, episodes, weights), rate)
    if (update % 4 === 3) scores.push(exactReturn(map, theta))
    if (arm !== 'learned') continue
    recent = [...recent, ...episodes]
    if (update % phase < phase - 1) continue
    // Other episodes for the primary gradient than for those of the parts, whose product is then unbiased.
    const [some, others] = [0, 1].map((part) => recent.filter((_, e) => e % 2 === part))
    let ahead = gradientOf(theta, some, [1, 0, 0])
    const total = ahead.slice()
    for (let term = 0; term < 3; term++) {
      // One more term of the Neumann series of the inverse Hessian, whose product is a difference of gradients.
      const length = Math.sqrt(dot(ahead, ahead)) || 1
      const moved = gradientOf(
        theta.map((v, k) => v + (0.1 * ahead[k]) / length),
        others,
        weights,
      )
      const here = gradientOf(theta, others, weights)
      ahead = ahead.map((v, k) => v + (rate * (moved[k] - here[k]) * length) / 0.1)
      ahead.forEach((v, k) => (total[k] += v))
    }
    const gradient = each(3).map(
      (k) =>
        -dot(
          total,
          gradientOf(
            theta,
            others,
            each(3).map((j) => Number(j === k)),
          ),
        ),
    )
    if (gradient.some((g) => g !== 0)) adam.step(weights, Float32Array.from(gradient), second)
    recent = []
  }
  return { score: average(scores), weight: weights[1] }
}

/** With each of the heuristics. */
function run(input: ArmRun, arm: Arm): ArmResult {
  const found = kinds.map((kind) => trained(input, kind, arm, settings[arm]))
  const weights = Object.fromEntries(kinds.map((kind, k) => [kind, found[k].weight]))
  return { score: average(found.map(({ score }) => score)), measures: weights }
}

export default definePaper({
  id: 'barfi',
  title: 'Behavior Alignment via Reward Function Optimization',
  theme: 'rewards',
  claim:
    'A blend of primary reward and heuristic whose weights follow the gradient of the primary return learns faster, over helpful, flawed and misleading heuristics, than the primary reward alone, than a fixed sum, than the heuristic as a potential, and than a sum in which the heuristic fades.',
  arms: {
    learned: (input) => run(input, 'learned'),
    primary: (input) => run(input, 'primary'),
    sum: (input) => run(input, 'sum'),
    potential: (input) => run(input, 'potential'),
    annealed: (input) => run(input, 'annealed'),
    untrained: (input) => run({ ...input, budget: { updates: 4 } }, 'primary'),
  },
  metric: 'exact discounted return of the goal of a grid, mean over training with each of three heuristics',
  pairing: 'seed',
  effect: { better: 'learned', than: ['primary', 'sum', 'potential', 'annealed'], atLeast: 0.03 },
  checks: [
    {
      about: 'a misleading heuristic loses weight (it begins with 0.3)',
      arm: 'learned',
      of: 'misleading',
      atMost: 0.28,
    },
    { about: 'a helpful one does not', arm: 'learned', of: 'distance', atLeast: 0.3 },
  ],
  control: { positive: { better: 'primary', than: 'untrained', atLeast: 0.1 }, same: 'sum' },
  budget: { updates: 100 },
  quick: { updates: 8 },
  simplifications: [
    'tables with plain policy gradients on a grid; three terms of the Neumann series stand for the inverse Hessian',
    'the weights are those of the primary reward, of the heuristic and of each step; the discount is not learned',
    'learning rates of 30 and 100, weights of the heuristic of 0.1, 0.3, 1 and 3, and rates of the weights of 0.003, 0.01, 0.03 and 0.1 were compared on seeds 201 to 216; the slower the weights changed the better',
  ],
})
