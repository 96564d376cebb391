import { finiteModel, softValueIteration, startValue, valueIteration } from 'agoge/classic'
import type { FiniteModel } from 'agoge/classic'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'

const states = 20
const actions = 4
const gamma = 0.9
const temperature = 0.1

/** A random model in which actions 2 and 3 have the effects of 0 and 1. `shift` is the largest change of a reward. */
function tiedModel(seed: number, shift: number): FiniteModel {
  const noise = createRandom('noise', seed)
  return finiteModel({
    states,
    actions,
    start: Array.from({ length: states }, () => 1 / states),
    outcomes(state, action) {
      const random = createRandom('model', seed, state, action % 2)
      const probability = random.next()
      const reward = random.next() + shift * (2 * noise.next() - 1)
      return [probability, 1 - probability].map((p) => ({
        probability: p,
        state: random.int(states),
        reward,
        terminated: false,
      }))
    },
  })
}

/** Values [states, actions] of a policy [states, actions]. */
function actionValues(model: FiniteModel, policy: Float64Array): Float64Array {
  const { offsets, probabilities, next, rewards } = model
  const q = new Float64Array(states * actions)
  let values = new Float64Array(states)
  for (let sweep = 0; sweep < 100; sweep++) {
    for (let pair = 0; pair < q.length; pair++) {
      q[pair] = 0
      for (let k = offsets[pair]; k < offsets[pair + 1]; k++)
        q[pair] += probabilities[k] * (rewards[k] + gamma * values[next[k]])
    }
    values = Float64Array.from({ length: states }, (_, s) => {
      let sum = 0
      for (let a = 0; a < actions; a++) sum += policy[s * actions + a] * q[s * actions + a]
      return sum
    })
  }
  return q
}

/** Makes a function that returns the return of a policy, as a share of the way from the policy by chance to the best one. */
function optimalityIn(model: FiniteModel): (policy: Float64Array) => number {
  const worth = (of: Float64Array): number =>
    actionValues(model, of).reduce((sum, value, pair) => sum + (of[pair] * value) / states, 0)
  const byChance = worth(new Float64Array(states * actions).fill(1 / actions))
  const best = startValue(model, valueIteration(model, { gamma }).values)
  return (policy) => (worth(policy) - byChance) / (best - byChance)
}

/** [states, actions], deterministic: the first of the best actions. */
function argmax(model: FiniteModel): Float64Array {
  const policy = new Float64Array(states * actions)
  for (const [state, action] of valueIteration(model, { gamma }).policy.entries())
    policy[state * actions + action] = 1
  return policy
}

const regularised = (model: FiniteModel): Float64Array =>
  softValueIteration(model, { gamma, temperature }).policy

/** Natural policy gradient on the return alone, from the policy by chance, until `enough` or for `most` steps. */
function gradient(
  model: FiniteModel,
  most: number,
  rate: number,
  enough: (policy: Float64Array) => boolean = () => false,
): Float64Array {
  const logits = new Float64Array(states * actions)
  let policy = logits.map(() => 1 / actions)
  for (let step = 0; step < most && !enough(policy); step++) {
    const q = actionValues(model, policy)
    for (let pair = 0; pair < q.length; pair++) logits[pair] += rate * q[pair]
    policy = logits.map((logit, pair) => {
      const row = logits.subarray(pair - (pair % actions), pair - (pair % actions) + actions)
      const highest = Math.max(...row)
      return Math.exp(logit - highest) / row.reduce((sum, other) => sum + Math.exp(other - highest), 0)
    })
  }
  return policy
}

/** Stops as soon as the return is that of the regularised policy of the same rewards. */
function stoppedEarly(model: FiniteModel): Float64Array {
  const optimality = optimalityIn(model)
  const wanted = optimality(regularised(model))
  return gradient(model, 1000, 0.25, (policy) => optimality(policy) >= wanted)
}

/** Total variation distance, mean over states, between the policies before and after a small change of rewards. */
function jump({ seed, budget }: ArmRun, solve: (model: FiniteModel) => Float64Array): ArmResult {
  const model = tiedModel(seed, 0)
  const before = solve(model)
  const after = solve(tiedModel(seed, budget.shift))
  const moved = before.reduce((sum, p, pair) => sum + Math.abs(p - after[pair]) / 2, 0)
  return { score: moved / states, measures: { optimality: optimalityIn(model)(before) } }
}

export default definePaper({
  id: 'policy-cliff',
  title: 'The Policy Cliff: A Theoretical Analysis of Reward-Policy Maps in Large Language Models',
  theme: 'rewards',
  claim:
    'Where optimal actions tie, a small change of rewards makes a policy jump that is trained on them alone; with entropy in the objective it moves less, also less than a policy that stops training at the same return.',
  arms: {
    regularised: (run) => jump(run, regularised),
    'trained-long': (run) => jump(run, (model) => gradient(model, run.budget.updates, 1)),
    'stopped-early': (run) => jump(run, stoppedEarly),
    argmax: (run) => jump(run, argmax),
  },
  metric: 'distance between the policies before and after rewards change by up to 0.01, mean over states',
  higherIsBetter: false,
  pairing: 'seed',
  effect: { better: 'regularised', than: ['trained-long', 'stopped-early'], atLeast: 1.25, scale: 'ratio' },
  checks: [
    {
      about: 'entropy costs little return',
      arm: 'regularised',
      of: 'optimality',
      atLeast: 0.8,
      atMost: 0.999,
    },
    {
      about: 'the rival stops at about that return',
      arm: 'stopped-early',
      of: 'optimality',
      atLeast: 0.8,
      atMost: 0.999,
    },
    { about: 'long training is nearly optimal', arm: 'trained-long', of: 'optimality', atLeast: 0.99 },
  ],
  control: { positive: { better: 'regularised', than: 'argmax', atLeast: 2 }, same: 'stopped-early' },
  budget: { updates: 200, shift: 0.01 },
  quick: { updates: 5, shift: 0.01 },
  simplifications: [
    'planned again as a ratio: a first plan, in differences, needed more computing than it was worth',
    'random models of 20 states stand for language models, and exact gradients for samples',
    'that the best action itself jumps at a tie follows by construction: it is only the positive control',
  ],
})
