import { finiteModel, softValueIteration, valueIteration } from 'agoge/classic'
import type { FiniteModel } from 'agoge/classic'
import { definePaper } from '../runner/paper.ts'
import type { ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'

const states = 20
const actions = 4
const gamma = 0.9

/** A random model. With ties, actions 2 and 3 have the effects of 0 and 1. `shift` is the largest change of a reward. */
function randomModel(seed: number, ties: boolean, shift: number): FiniteModel {
  const noise = createRandom('noise', seed)
  return finiteModel({
    states,
    actions,
    start: 0,
    outcomes(state, action) {
      const random = createRandom('model', seed, state, ties ? action % 2 : action)
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

/** [states, actions], deterministic. */
function argmax(model: FiniteModel): Float64Array {
  const policy = new Float64Array(states * actions)
  for (const [state, action] of valueIteration(model, { gamma }).policy.entries())
    policy[state * actions + action] = 1
  return policy
}

const soft = (model: FiniteModel): Float64Array =>
  softValueIteration(model, { gamma, temperature: 0.1 }).policy

/** Largest total variation distance in a state between the policies before and after a small change of rewards. */
function jump({ seed, budget }: ArmRun, solve: (model: FiniteModel) => Float64Array, ties = true): number {
  const before = solve(randomModel(seed, ties, 0))
  const after = solve(randomModel(seed, ties, budget.shift))
  const distances = Array.from({ length: states }, (_, s) => {
    const row = (policy: Float64Array) => policy.subarray(s * actions, (s + 1) * actions)
    return row(before).reduce((sum, p, a) => sum + Math.abs(p - row(after)[a]) / 2, 0)
  })
  return Math.max(...distances)
}

export default definePaper({
  id: 'policy-cliff',
  title: 'The Policy Cliff: A Theoretical Analysis of Reward-Policy Maps in Large Language Models',
  theme: 'rewards',
  claim:
    'Where optimal actions tie, the smallest change of rewards makes the optimal policy jump; with entropy in the objective the policy moves as little as the rewards.',
  arms: {
    regularised: (run) => jump(run, soft),
    argmax: (run) => jump(run, argmax),
    'argmax-without-ties': (run) => jump(run, argmax, false),
  },
  metric: 'largest distance in a state between the policies before and after rewards change by up to 1e-6',
  higherIsBetter: false,
  budget: { shift: 1e-6 },
  quick: { shift: 1e-6 },
  pairing: 'seed',
  effect: { better: 'regularised', than: ['argmax'], atLeast: 0.5 },
  simplifications: ['random models of 20 states stand for language models'],
})
