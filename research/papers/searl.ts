import { evaluatePolicy, startValue, valueIteration } from 'agoge/classic'
import type { FiniteModel } from 'agoge/classic'
import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { actions, chances, garnet, greedy, replay, states } from '../testbeds/garnet/garnet.ts'
import { each } from '../testbeds/each.ts'

const [gamma, members, episode, epsilon] = [0.95, 6, 25, 0.2]

/** What is searched: the step size, and the horizon of the discount in learning. */
type Settings = { stepSize: number; horizon: number }
const ranges: Record<keyof Settings, [number, number]> = {
  stepSize: [0.003, 1],
  horizon: [1, 100],
}
const names = Object.keys(ranges) as (keyof Settings)[]
const drawn = (of: (low: number, high: number) => number): Settings =>
  Object.fromEntries(
    names.map((name) => [name, Math.exp(of(...(ranges[name].map(Math.log) as [number, number])))]),
  ) as Settings
const mutated = (settings: Settings, random: Random): Settings =>
  Object.fromEntries(
    names.map((name) => {
      const value = settings[name] * (random.next() < 0.6 ? random.pick([0.25, 4]) : 1)
      return [name, Math.max(ranges[name][0], Math.min(ranges[name][1], value))]
    }),
  ) as Settings

interface Member {
  settings: Settings
  q: Float64Array
  buffer: number[]
  fitness: number
}
/** Plays two episodes, which are evaluation and data alike. */
function play(model: FiniteModel, member: Member, random: Random): void {
  let total = 0
  for (let step = 0, s = 0; step < 2 * episode; step++) {
    if (step % episode === 0) s = 0
    const a = random.next() < epsilon ? random.int(actions) : greedy(member.q, s)
    const at = model.offsets[s * actions + a] + random.weighted(chances)
    member.buffer.push(s, a, model.rewards[at], model.next[at])
    total += model.rewards[at]
    s = model.next[at]
  }
  member.fitness = total
}

interface Method {
  /** Whether all learn from all steps, and whether the better replace the worse, changed. */
  shared: boolean
  evolves: boolean
  size?: number
  middle?: boolean
}

/** Steps in the environment until the member of the best evaluation acts well. */
function search(
  { seed, budget }: ArmRun,
  { shared, evolves, size = members, middle = false }: Method,
): ArmResult {
  const model = garnet(seed)
  const random = createRandom('search', seed)
  const optimal = startValue(model, valueIteration(model, { gamma }).values)
  const common: number[] = []
  let population = each(size).map((): Member => ({
    settings: drawn((low, high) => (middle ? (low + high) / 2 : low + (high - low) * random.next())),
    q: new Float64Array(states * actions),
    buffer: shared ? common : [],
    fitness: 0,
  }))
  let changed = 0
  let measures = { changed, data: 0 }
  for (let steps = 0; steps < budget.steps;) {
    for (const member of population) play(model, member, random)
    steps += size * 2 * episode
    const elite = population.reduce((a, b) => (b.fitness > a.fitness ? b : a))
    const value = startValue(
      model,
      evaluatePolicy(
        model,
        each(states).map((s) => greedy(elite.q, s)),
        { gamma, tolerance: 1e-4 },
      ),
    )
    // Steps that the first member learns from, for each that it took.
    measures = { changed, data: (population[0].buffer.length / 4 / steps) * size }
    if (value >= 0.9 * optimal) return { score: Math.min(steps, budget.steps), measures }
    if (evolves)
      population = population.map((member) => {
        // A tournament of two; the elite stays as it is.
        if (member === elite) return member
        const winner = [0, 1]
          .map(() => random.pick(population))
          .reduce((a, b) => (b.fitness > a.fitness ? b : a))
        if (winner !== member) changed++
        return {
          ...winner,
          q: winner.q.slice(),
          settings: mutated(winner.settings, random),
          buffer: shared ? common : winner === member ? member.buffer : [...winner.buffer],
        }
      })
    for (const { q, buffer, settings } of population)
      replay(
        q,
        buffer,
        { stepSize: settings.stepSize, discount: 1 - 1 / settings.horizon, updates: budget.updates },
        random,
      )
  }
  return { score: budget.steps, reached: false, measures }
}
const arms = {
  searl: { shared: true, evolves: true },
  separate: { shared: false, evolves: true },
  'random-search': { shared: false, evolves: false },
  'shared-only': { shared: true, evolves: false },
  // One agent with the middle of each range, which searches nothing.
  middle: { shared: true, evolves: false, size: 1, middle: true },
}

export default definePaper({
  id: 'searl',
  title: 'Sample-Efficient Automated Deep Reinforcement Learning',
  theme: 'curriculum-autorl',
  claim:
    'A population that evolves its settings while all members learn from one replay buffer needs fewer steps than population-based training with separate buffers, and than random search.',
  arms: {
    ...(Object.fromEntries(
      Object.entries(arms).map(([name, method]) => [name, (run: ArmRun) => search(run, method)]),
    ) as Record<keyof typeof arms, (run: ArmRun) => ArmResult>),
    untrained: (run) => search({ ...run, budget: { ...run.budget, updates: 0 } }, arms['random-search']),
  },
  metric:
    'steps of all members until the one of the best evaluation reaches 90% of the optimal return, exact, in a random environment of 30 states',
  higherIsBetter: false,
  pairing: 'seed',
  effect: { better: 'searl', than: ['separate', 'random-search'], atLeast: 1.5, scale: 'ratio' },
  checks: [
    { about: 'members are replaced', arm: ['searl', 'separate'], of: 'changed', atLeast: 10 },
    { about: 'all steps are shared', arm: ['searl', 'shared-only'], of: 'data', atLeast: 5.9 },
    { about: 'none is', arm: 'random-search', of: 'data', atMost: 1.1 },
  ],
  control: { positive: { better: 'random-search', than: 'untrained', atLeast: 2 }, same: 'random-search' },
  budget: { steps: 60_000, updates: 600 },
  quick: { steps: 1200, updates: 10 },
  simplifications: [
    'tables stand for networks, so the architecture is not searched; step size and discount are, of which both are drawn at random first',
    'population-based training copies the buffer of the winner with its table, which the paper does not say',
    'chances of a change of 0.03, 0.1, 0.3, 0.6 and 1, factors of 1.25, 2, 4, 8 and 16 and tournaments of two and three were compared for both that evolve, on seeds 201 to 220; large changes were best',
    'the share of random actions was evolved at first; evaluations with them favoured members that do not explore, so it is fixed',
    'random search with a shared buffer, and one agent with middling settings, are compared without being named in the claim',
  ],
})
