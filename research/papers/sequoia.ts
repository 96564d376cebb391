import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import {
  argmax,
  arms,
  choices,
  drawBandit,
  gamma,
  interventions,
  nextStates,
  reward,
  states,
  valueOf,
} from '../testbeds/coupled-bandit/bandit.ts'
import type { Bandit, Choose } from '../testbeds/coupled-bandit/bandit.ts'
import { byIndex, myopic, optimal } from '../testbeds/coupled-bandit/policies.ts'

/** Solves a symmetric positive system in place, by elimination. */
function solve(matrix: number[][], right: number[]): number[] {
  const n = right.length
  for (let i = 0; i < n; i++)
    for (let k = i + 1; k < n; k++) {
      const factor = matrix[k][i] / matrix[i][i]
      for (let j = i; j < n; j++) matrix[k][j] -= factor * matrix[i][j]
      right[k] -= factor * right[i]
    }
  for (let i = n - 1; i >= 0; i--) {
    for (let j = i + 1; j < n; j++) right[i] -= matrix[i][j] * right[j]
    right[i] /= matrix[i][i]
  }
  return right
}

const inputs = arms + interventions + 1
/** Fixed random units with a rectifier, and the inputs themselves: `features[state * choices.length + choice]`. */
function allFeatures(random: Random, units: number): Float64Array[] {
  const weights = Array.from({ length: units }, () => Array.from({ length: inputs }, () => random.normal()))
  return Array.from({ length: states * choices.length }, (_, at) => {
    const [state, choice] = [Math.floor(at / choices.length), choices[at % choices.length]]
    const row = Array.from({ length: inputs }, (_, i) =>
      i < arms ? (state >> i) & 1 : Number(i === inputs - 1 || choice.includes(i - arms)),
    )
    const hidden = weights.map((each) =>
      Math.max(
        0,
        each.reduce((sum, weight, i) => sum + weight * row[i], 0),
      ),
    )
    return Float64Array.from([...row, ...hidden])
  })
}

/** Fitted Q iteration on random interaction; the best choice is that of the highest Q among all feasible ones. */
function combinatorialQ(bandit: Bandit, { seed, budget }: ArmRun, discount: number): Choose {
  const random = createRandom(seed, 'q-learning')
  const features = allFeatures(random, 30)
  const size = features[0].length
  const dot = (at: number, weights: readonly number[]): number => {
    let sum = 0
    for (let i = 0; i < size; i++) sum += features[at][i] * weights[i]
    return sum
  }
  const places = Array.from({ length: choices.length }, (_, choice) => choice)
  const steps: { at: number; after: number; paid: number }[] = []
  for (let step = 0, state = 0; step < budget.steps; step++) {
    const choice = random.int(choices.length)
    const after = random.weighted(nextStates(bandit, state, choice))
    steps.push({ at: state * choices.length + choice, after, paid: reward(bandit, after) })
    state = after
  }
  const gram = Array.from({ length: size }, (_, i) =>
    Array.from({ length: size }, (_, j) =>
      steps.reduce((sum, { at }) => sum + features[at][i] * features[at][j], i === j ? 1 : 0),
    ),
  )
  let weights = Array.from({ length: size }, () => 0)
  const best = (state: number): number[] =>
    places.map((choice) => dot(state * choices.length + choice, weights))
  for (let iteration = 0; iteration < (discount === 0 ? 1 : 30); iteration++) {
    const values = Array.from({ length: states }, (_, state) => Math.max(...best(state)))
    const right = Array.from({ length: size }, () => 0)
    for (const { at, after, paid } of steps)
      for (let i = 0; i < size; i++) right[i] += features[at][i] * (paid + discount * values[after])
    weights = solve(
      gram.map((row) => [...row]),
      right,
    )
  }
  return (state) => argmax(best(state))
}

/** The mean over a few bandits, relative to what choices at random are worth. */
function gainOf(run: ArmRun, make: (bandit: Bandit, run: ArmRun) => Choose): ArmResult {
  const found = Array.from({ length: run.budget.bandits }, (_, k) => {
    const seed = 1000 * run.seed + k
    const bandit = drawBandit(seed)
    const random = createRandom(seed, 'random-choices')
    const base = valueOf(bandit, () => random.int(choices.length)).score
    const { score, used } = valueOf(bandit, make(bandit, { ...run, seed }))
    return { gain: 100 * (score / base - 1), used }
  })
  return {
    score: average(found.map(({ gain }) => gain)),
    measures: { used: average(found.map(({ used }) => used)) },
  }
}

export default definePaper({
  id: 'sequoia',
  title: 'Reinforcement learning with combinatorial actions for coupled restless bandits',
  theme: 'bandits',
  claim:
    'A learned Q of state and choice, maximised over the feasible combinations, returns more than choosing for the next step by the model, and than an index of each arm by itself.',
  arms: {
    sequoia: (run) => gainOf(run, (bandit, each) => combinatorialQ(bandit, each, gamma)),
    myopic: (run) => gainOf(run, myopic),
    index: (run) => gainOf(run, byIndex),
    // What the myopic policy learns from the same steps, without the model.
    'learned-myopic': (run) => gainOf(run, (bandit, each) => combinatorialQ(bandit, each, 0)),
    random: (run) =>
      gainOf(run, (_, { seed }) => {
        const random = createRandom(seed, 'random-arm')
        return () => random.int(choices.length)
      }),
    optimal: (run) => gainOf(run, optimal),
  },
  metric: 'percent more discounted return than choices at random, exact, mean over first states and bandits',
  pairing: 'seed',
  effect: { better: 'sequoia', than: ['myopic', 'index', 'random'], atLeast: 2 },
  checks: [
    { about: 'the choice depends on the state', arm: 'sequoia', of: 'used', atLeast: 3 },
    { about: 'there is something to gain', arm: 'optimal', of: 'score', atLeast: 5 },
    { about: 'choices at random gain nothing', arm: 'random', of: 'score', atLeast: -2, atMost: 2 },
  ],
  control: { positive: { better: 'optimal', than: 'random', atLeast: 3 }, same: 'myopic' },
  budget: { steps: 1000, bandits: 1 },
  quick: { steps: 50, bandits: 1 },
  simplifications: [
    'seven arms and 15 feasible choices, enumerated in place of a mixed-integer program; only the setting of several interventions',
    'fixed random rectified units with fitted Q iteration on random interaction stand for a trained network with DQN updates',
    'the rivals know the model, which the claimed method does not',
  ],
})
