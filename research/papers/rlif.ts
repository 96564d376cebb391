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
import type { ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'

const gamma = 0.99
const context = { successRate: 0.8 }
const model = frozenLake8x8.transitions(context)
const contextFor = () => context

/** Knows the way, but in three of ten states always takes the same wrong action. Its values are those of its own policy. */
function suboptimalExpert(seed: number) {
  const random = createRandom('expert', seed)
  const policy = valueIteration(model, { gamma }).policy.map((best) =>
    random.next() < 0.3 ? random.int(4) : best,
  )
  return { policy, values: evaluatePolicy(model, policy, { gamma }) }
}

/**
 * The expert takes over for a step if it values the learner's action less than its own. Interventions are the only
 * signal.
 */
function withInterventions(seed: number): EnvironmentDefinition {
  const { policy, values } = suboptimalExpert(seed)
  const worth = (state: number, action: number) => actionValue(model, values, state, action, gamma)
  return {
    ...frozenLake8x8,
    step(envs, i, random) {
      const { actions, rewards } = envs
      const state = envs.observations[i]
      const chosen = actions[i]
      const takesOver = worth(state, chosen) < worth(state, policy[state]) - 1e-9
      if (takesOver) actions[i] = policy[state]
      frozenLake8x8.step(envs, i, random)
      actions[i] = chosen
      rewards[i] = takesOver ? -1 : 0
    },
  }
}

const success = (policy: ArrayLike<number>): number =>
  startValue(model, evaluatePolicy(model, policy, { steps: 200 }))

/** Score of a policy minus that of the expert of the same seed. */
const aboveExpert = (seed: number, policy: ArrayLike<number>): number =>
  success(policy) - success(suboptimalExpert(seed).policy)

/** Score after learning from the environment's rewards. */
async function learned({ seed, budget }: ArmRun, definition: EnvironmentDefinition): Promise<number> {
  const environment = createVectorEnvironment(definition, { numEnvs: 1, seed, contextFor })
  environment.reset()
  const config = { stepSize: 0.2, gamma, epsilonStart: 0.3, epsilonEnd: 0.3, explorationFraction: 0 }
  const agent = await qLearning(config)(environment, { seed, totalSteps: budget.steps })
  await learnUntil(environment, agent, { steps: budget.steps })
  const states = Float32Array.from({ length: model.states }, (_, state) => state)
  const actions = new Float32Array(model.states)
  agent.predict(states, model.states, actions)
  return aboveExpert(seed, actions)
}

/** Copies the expert in states where it has been; a fixed action elsewhere. */
function cloned({ seed, budget }: ArmRun): number {
  const { policy } = suboptimalExpert(seed)
  const environment = createVectorEnvironment(frozenLake8x8, { numEnvs: 1, seed, contextFor })
  environment.reset()
  const clone = new Int32Array(model.states)
  for (let step = 0; step < budget.demonstrated; step++) {
    const state = environment.observations[0]
    clone[state] = policy[state]
    environment.actions[0] = policy[state]
    environment.step()
  }
  return aboveExpert(seed, clone)
}

export default definePaper({
  id: 'rlif',
  title: 'RLIF: Interactive Imitation Learning as Reinforcement Learning',
  theme: 'offline-imitation',
  claim:
    'With nothing but the interventions of a suboptimal expert as (negative) reward, reinforcement learning becomes better than that expert and than imitation of it.',
  arms: {
    interventions: (run) => learned(run, withInterventions(run.seed)),
    // In the end it has queried the expert in every state, and copies it.
    'dagger-limit': ({ seed }) => aboveExpert(seed, suboptimalExpert(seed).policy),
    cloning: cloned,
    'task-reward': (run) => learned(run, frozenLake8x8),
  },
  metric:
    'probability of success of the greedy policy on the 8x8 frozen lake, less that of the expert, exact',
  budget: { steps: 100_000, demonstrated: 1000 },
  quick: { steps: 500, demonstrated: 100 },
  pairing: 'seed',
  effect: { better: 'interventions', than: ['dagger-limit', 'cloning'], atLeast: 0.05 },
  simplifications: [
    'DAgger is granted what it tends to, the expert itself',
    'a scripted expert that takes over for a step at a time, by its own values',
  ],
})
