import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'

export const arms = 7
export const states = 2 ** arms
export const gamma = 0.9
export const interventions = 6
/** All choices of two interventions, as lists. */
export const choices = Array.from({ length: interventions }, (_, a) =>
  Array.from({ length: a }, (_, b) => [b, a]),
).flat()

/** Restless arms, each good or bad, that interventions reach in groups. */
export interface Bandit {
  /** Whether an arm in a state is good. */
  good: (state: number, arm: number) => number
  /** How many interventions of a choice reach each arm [choices][arms]. */
  reach: number[][]
  /** Probability that an arm is good next: [arm][good now][reached 0, 1 or 2 times]. */
  next: number[][][]
  /** What a good arm is worth in a step [arms]. */
  worth: number[]
}

export function drawBandit(seed: number): Bandit {
  const random = createRandom(seed, 'coupled-bandit')
  const list = Array.from({ length: arms }, (_, arm) => arm)
  const groups = Array.from({ length: interventions }, () => random.shuffle(list).slice(0, 3))
  const reach = choices.map((choice) =>
    list.map((arm) => choice.filter((intervention) => groups[intervention].includes(arm)).length),
  )
  const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x))
  const next = list.map(() => {
    // Some arms are raised easily and fall at once, others are hard to raise and stay.
    const [low, stays, lift] = random.next() < 0.5 ? [-2, 0, 3] : [-3, 6, 1.5]
    return [0, 1].map((good) => [0, 1, 2].map((reached) => sigmoid(low + good * stays + lift * reached)))
  })
  return { good: (state, arm) => (state >> arm) & 1, reach, next, worth: list.map(() => 0.5 + random.next()) }
}

export const reward = ({ good, worth }: Bandit, state: number): number =>
  worth.reduce((sum, each, arm) => sum + each * good(state, arm), 0)

/** Probabilities of the next state [states]. */
export function nextStates({ good, reach, next }: Bandit, state: number, choice: number): Float64Array {
  const row = new Float64Array(states)
  row[0] = 1
  for (let arm = 0; arm < arms; arm++) {
    const p = next[arm][good(state, arm)][reach[choice][arm]]
    for (let low = (1 << arm) - 1; low >= 0; low--) {
      row[low + (1 << arm)] = row[low] * p
      row[low] *= 1 - p
    }
  }
  return row
}

/** The choice in a state. */
export type Choose = (state: number) => number
/** The place of the highest value, of equal ones the first. */
export const argmax = (values: readonly number[]): number => values.indexOf(Math.max(...values))

/** Discounted return per step of a choice for each state, exact, mean over first states. */
export function valueOf(bandit: Bandit, choose: Choose): { score: number; used: number } {
  const chosen = Array.from({ length: states }, (_, state) => choose(state))
  const rows = chosen.map((choice, state) => nextStates(bandit, state, choice))
  let values = new Float64Array(states)
  for (let sweep = 0; sweep < 60; sweep++)
    values = values.map(
      (_, s) =>
        (1 - gamma) * reward(bandit, s) + gamma * rows[s].reduce((sum, p, n) => sum + p * values[n], 0),
    )
  return { score: average([...values]), used: new Set(chosen).size }
}
