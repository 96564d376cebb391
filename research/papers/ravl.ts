import { createRandom, type Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'

const side = 10
const states = side * side
const goal = states - 1
const moves = [
  [1, 0],
  [-1, 0],
  [0, 1],
  [0, -1],
] as const
const gamma = 0.95

/** The true dynamics, which the rollouts have too: no model is wrong here. */
function next(state: number, action: number): number {
  const [x, y] = [state % side, Math.floor(state / side)]
  const [dx, dy] = moves[action]
  const within = (value: number): number => Math.min(side - 1, Math.max(0, value))
  return within(x + dx) + side * within(y + dy)
}

/** States of episodes of an expert that errs in a part of its moves. */
function dataOf(random: Random, episodes: number): number[] {
  const seen: number[] = []
  for (let episode = 0; episode < episodes; episode++)
    for (let state = 0, step = 0; state !== goal && step < 40; step++) {
      seen.push(state)
      const towards = [0, 2].filter((action) => next(state, action) !== state)
      state = next(state, random.next() < 0.3 ? random.int(moves.length) : random.pick(towards))
    }
  return seen
}

interface Settings {
  /** Number of values of a state and action. Their targets take the smallest, or the mean. */
  ensemble: number
  pessimistic: boolean
  /** Steps of a rollout from a state of the data. */
  length: number
  /** Deviation of the values that are not trained: what a network says of states that it never saw. */
  spread: number
}

const best = (values: readonly number[]): number => values.indexOf(Math.max(...values))

/** Q-learning on short rollouts from states of the data. Returns the exact return of the greedy policy from the start. */
function learned({ seed, budget }: ArmRun, { ensemble, pessimistic, length, spread }: Settings): ArmResult {
  const data = dataOf(createRandom(seed, 'data'), budget.episodes)
  const random = createRandom(seed, 'learner')
  const untrained = createRandom(seed, 'untrained')
  const tables = Array.from({ length: ensemble }, () =>
    Float64Array.from({ length: states * moves.length }, () => spread * untrained.normal()),
  )
  const valuesOf = (state: number): number[] =>
    moves.map((_, action) => {
      const all = tables.map((table) => table[state * moves.length + action])
      return pessimistic ? Math.min(...all) : average(all)
    })
  const updated = new Set<number>()
  const used = new Set<number>()
  for (let rollout = 0; rollout < budget.rollouts; rollout++)
    for (let state = random.pick(data), step = 0; state !== goal && step < length; step++) {
      const action = random.next() < 0.2 ? random.int(moves.length) : best(valuesOf(state))
      const after = next(state, action)
      const target = after === goal ? 1 : gamma * Math.max(...valuesOf(after))
      for (const table of tables) {
        const at = state * moves.length + action
        table[at] += 0.3 * (target - table[at])
      }
      updated.add(state)
      if (after !== goal) used.add(after)
      state = after
    }
  let score = 0
  for (let state = 0, step = 0; step < 100; step++) {
    state = next(state, best(valuesOf(state)))
    if (state !== goal) continue
    score = gamma ** step
    break
  }
  return {
    score,
    measures: {
      edge: [...used].filter((state) => !updated.has(state)).length,
      promised: Math.max(...valuesOf(0)),
    },
  }
}

const usual: Settings = { ensemble: 5, pessimistic: true, length: 2, spread: 1 }
const arm =
  (changes: Partial<Settings>) =>
  (run: ArmRun): ArmResult =>
    learned(run, { ...usual, ...changes })

export default definePaper({
  id: 'ravl',
  title: 'The Edge-of-Reach Problem in Offline Model-Based Reinforcement Learning',
  theme: 'offline-imitation',
  claim:
    'Short rollouts from the data use values of states that are never trained, even where the model is exact; the smallest value of an ensemble keeps the policy from these, its mean and a single value do not.',
  arms: {
    'smallest-of-ensemble': arm({}),
    'mean-of-ensemble': arm({ pessimistic: false }),
    single: arm({ ensemble: 1 }),
    // The problem does not arise: rollouts are as long as an episode, or what is not trained is worth nothing.
    'long-rollouts': arm({ ensemble: 1, length: 40 }),
    'untrained-is-zero': arm({ ensemble: 1, spread: 0 }),
  },
  metric: 'exact discounted return of the greedy policy; the shortest way has 0.42',
  pairing: 'seed',
  effect: { better: 'smallest-of-ensemble', than: ['mean-of-ensemble', 'single'], atLeast: 0.05 },
  checks: [
    { about: 'some states give values and are never trained', arm: 'single', of: 'edge', atLeast: 3 },
    { about: 'these promise more than there is', arm: 'single', of: 'promised', atLeast: 0.45 },
    { about: 'long rollouts leave none', arm: 'long-rollouts', of: 'edge', atMost: 1 },
  ],
  control: { positive: { better: 'long-rollouts', than: 'single', atLeast: 0.05 } },
  budget: { episodes: 5, rollouts: 20_000 },
  quick: { episodes: 2, rollouts: 100 },
  simplifications: [
    'tables on a grid, with random numbers as large as the reward for what a network says of states that it never saw',
    'five values, without the term for their diversity; the exact model in all arms, so pessimism by the uncertainty of the dynamics would change nothing',
  ],
})
