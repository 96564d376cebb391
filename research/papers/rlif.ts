import {
  createVectorEnvironment,
  actionValue,
  evaluatePolicy,
  qLearning,
  startValue,
  valueIteration,
  learnUntil,
  frozenLake8x8,
} from 'agoge/classic'
import type { EnvironmentDefinition } from 'agoge/classic'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'

const gamma = 0.99
const context = { successRate: 0.8 }
const model = frozenLake8x8.transitions(context)
const contextFor = () => context
/** Probability that the expert overlooks a worse action, and that it takes over without need. */
const mistaken = 0.2

/** Knows the way, but in three of ten states always takes the same random action. Its values are those of its own policy. */
function suboptimalExpert(seed: number) {
  const random = createRandom('expert', seed)
  const policy = valueIteration(model, { gamma }).policy.map((best) =>
    random.next() < 0.3 ? random.int(4) : best,
  )
  return { policy, values: evaluatePolicy(model, policy, { gamma }) }
}

const success = (policy: ArrayLike<number>): number =>
  startValue(model, evaluatePolicy(model, policy, { steps: 200 }))

/** The lake with the expert beside it, and the labels that it gives: [states, actions] it chose when it took over. */
function supervised(seed: number) {
  const { policy, values } = suboptimalExpert(seed)
  const labels = new Int32Array(model.states * 4)
  const taken = { steps: 0, over: 0 }
  const worth = (state: number, action: number) => actionValue(model, values, state, action, gamma)
  const definition: EnvironmentDefinition = {
    ...frozenLake8x8,
    step(envs, i, random) {
      const { actions, rewards } = envs
      const state = envs.observations[i]
      const chosen = actions[i]
      const worse = worth(state, chosen) < worth(state, policy[state]) - 1e-9
      const takesOver = random.random() < mistaken ? !worse : worse
      taken.steps++
      if (takesOver) {
        taken.over++
        labels[4 * state + policy[state]]++
        actions[i] = policy[state]
      }
      frozenLake8x8.step(envs, i, random)
      actions[i] = chosen
      rewards[i] = takesOver ? -1 : 0
    },
  }
  return { definition, labels, taken }
}

const states = Float32Array.from({ length: model.states }, (_, state) => state)

/** Q-learning on the interventions as only rewards, with the best step size of 0.01 to 0.2 on other seeds. With `discount` 0 it avoids the next intervention alone. */
async function fromInterventions(
  { seed, budget }: ArmRun,
  discount: number,
  stepSize: number,
): Promise<ArmResult> {
  const { definition, taken } = supervised(seed)
  const environment = createVectorEnvironment(definition, { numEnvs: 1, seed, contextFor })
  environment.reset()
  const config = {
    stepSize,
    gamma: discount,
    epsilonStart: 0.3,
    epsilonEnd: 0.3,
    explorationFraction: 0,
  }
  const agent = await qLearning(config)(environment, { seed, totalSteps: budget.steps })
  const actions = new Float32Array(model.states)
  agent.predict(states, model.states, actions)
  const start = success(actions)
  await learnUntil(environment, agent, { steps: budget.steps })
  agent.predict(states, model.states, actions)
  return { score: success(actions), start, measures: { interventions: taken.over / taken.steps } }
}

/** Acts as the labels say so far, elsewhere by chance; the expert takes over, and each time adds a label. */
function dagger({ seed, budget }: ArmRun): ArmResult {
  const { definition, labels, taken } = supervised(seed)
  const environment = createVectorEnvironment(definition, { numEnvs: 1, seed, contextFor })
  environment.reset()
  const random = createRandom('novice', seed)
  const favourite = Int32Array.from({ length: model.states }, () => random.int(4))
  const act = (state: number): number => {
    const counts = labels.subarray(4 * state, 4 * state + 4)
    const most = Math.max(...counts)
    return most === 0 ? favourite[state] : counts.indexOf(most)
  }
  const start = success(favourite)
  for (let step = 0; step < budget.steps; step++) {
    environment.actions[0] = random.next() < 0.3 ? random.int(4) : act(environment.observations[0])
    environment.step()
  }
  const score = success(Array.from(states, act))
  return { score, start, measures: { interventions: taken.over / taken.steps } }
}

export default definePaper({
  id: 'rlif',
  title: 'RLIF: Interactive Imitation Learning as Reinforcement Learning',
  theme: 'offline-imitation',
  claim:
    'With nothing but the interventions of a suboptimal expert as (negative) reward, reinforcement learning becomes better than DAgger, which copies what the expert does when it intervenes, and than avoiding only the next intervention.',
  arms: {
    interventions: (run) => fromInterventions(run, gamma, 0.05),
    dagger,
    // The strongest simple reading of the same signal: the action of each state that is interrupted least.
    'next-intervention': (run) => fromInterventions(run, 0, 0.1),
    expert: ({ seed }) => success(suboptimalExpert(seed).policy),
    'never-trained': ({ seed }) => {
      const random = createRandom('novice', seed)
      return success(Int32Array.from({ length: model.states }, () => random.int(4)))
    },
  },
  metric: 'probability of success of the greedy policy on the 8x8 frozen lake, exact',
  pairing: 'seed',
  effect: { better: 'interventions', than: ['dagger', 'next-intervention'], atLeast: 0.05 },
  checks: [
    {
      about: 'the expert intervenes, and not always',
      arm: ['interventions', 'dagger', 'next-intervention'],
      of: 'interventions',
      atLeast: 0.15,
      atMost: 0.7,
    },
    {
      about: 'the expert is suboptimal but knows the way',
      arm: 'expert',
      of: 'score',
      atLeast: 0.1,
      atMost: 0.8,
    },
    { about: 'learners begin without skill', arm: ['interventions', 'dagger'], of: 'start', atMost: 0.1 },
  ],
  control: { positive: { better: 'interventions', than: 'never-trained', atLeast: 0.1 }, same: 'dagger' },
  budget: { steps: 50_000 },
  quick: { steps: 500 },
  simplifications: [
    'a scripted expert that takes over for a step at a time, by the values of its own policy, wrongly in a fifth of the steps',
    'the rival that avoids the next intervention is not in the paper: it shows what looking ahead adds',
    'tables on a grid stand for robots',
    'DAgger is the variant in which the expert labels only where it takes over; it explores as much as Q-learning',
  ],
})
