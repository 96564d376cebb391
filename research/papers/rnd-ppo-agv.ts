import { evaluateAgent, ppo, ppoPresets, trainClassic } from 'agoge'
import type { ClassicAlgorithm } from 'agoge'
import type { EnvironmentDefinition } from 'agoge/classic'
import { definePaper } from '../runner/paper.ts'
import type { ArmRun } from '../runner/paper.ts'
import { rnd, withBonus, pointMass } from 'agoge/classic'

/** Racks of the warehouse in m: left, bottom, right, top. The path passes above the first and below the second. */
const racks = [
  [-0.4, -1, -0.2, 0.3],
  [0.2, -0.3, 0.4, 1],
] as const
const goal = { x: 0.75, y: 0.75, radius: 0.2 }

/** A vehicle with inertia among racks that stop it. Reward 1 at the goal, otherwise 0. */
const warehouse: EnvironmentDefinition = {
  ...pointMass,
  name: 'warehouse',
  context: { ...pointMass.context, force: { ...pointMass.context.force, default: 3 } },
  maxSteps: 200,
  reset({ state }, i, random) {
    state.fill(0, i * 4, i * 4 + 4)
    for (let axis = 0; axis < 2; axis++) state[i * 4 + axis] = random.uniform(-0.85, -0.65)
  },
  step(envs, i, random) {
    const { state, rewards, terminated } = envs
    const [x, y] = [state[i * 4], state[i * 4 + 1]]
    pointMass.step(envs, i, random)
    const [newX, newY] = [state[i * 4], state[i * 4 + 1]]
    if (racks.some(([left, low, right, high]) => newX > left && newX < right && newY > low && newY < high)) {
      state[i * 4] = x
      state[i * 4 + 1] = y
      state.fill(0, i * 4 + 2, i * 4 + 4)
    }
    const there = Math.hypot(state[i * 4] - goal.x, state[i * 4 + 1] - goal.y) < goal.radius
    rewards[i] = there ? 1 : 0
    terminated[i] = there ? 1 : 0
  },
}

const settings = { ...ppoPresets.cleanrl, learningRate: 1e-3, entropy: 0, anneal: [] }
const plain = ppo(settings)

/** Share of episodes in which the greedy policy arrives. */
async function arrivals({ seed, budget }: ArmRun, algorithm: ClassicAlgorithm): Promise<number> {
  const { agent } = await trainClassic({
    definition: warehouse,
    algorithm,
    numEnvs: 8,
    seed,
    steps: budget.steps,
    evaluate: { every: 0, episodes: 1 },
  })
  const { returns } = await evaluateAgent(agent, warehouse, { episodes: 50, seed })
  await agent.dispose()
  return returns.reduce((sum, value) => sum + value, 0) / returns.length
}

export default definePaper({
  id: 'rnd-ppo-agv',
  title: 'Random Network Distillation Based Deep Reinforcement Learning for AGV Path Planning',
  theme: 'applications',
  claim:
    'In a warehouse with a reward at the goal alone, PPO with the bonus of random network distillation learns to arrive more often than PPO without it, whether its entropy is rewarded or not.',
  arms: {
    'ppo-rnd': (run) => arrivals(run, withBonus(plain, rnd(), 0.05)),
    ppo: (run) => arrivals(run, plain),
    'ppo-entropy': (run) => arrivals(run, ppo({ ...settings, entropy: 0.01 })),
  },
  metric: 'share of 50 episodes in which the greedy policy arrives, after training',
  budget: { steps: 200_000 },
  quick: { steps: 2048 },
  pairing: 'seed',
  effect: { better: 'ppo-rnd', than: ['ppo', 'ppo-entropy'], atLeast: 0.1 },
  simplifications: ['two racks and a point with inertia stand for the warehouse and its vehicle'],
})
