import { evaluateAgent } from 'agoge'
import {
  contextSampler,
  createVectorEnvironment,
  visibleContext,
  clipActionRows,
  hyperNetwork,
  mlpNetwork,
  pointMass,
} from 'agoge/classic'
import type { EnvArrays, EnvironmentDefinition, Network } from 'agoge/classic'
import { definePaper } from '../runner/paper.ts'
import { average } from 'agoge/statistics'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { compileObjective, createAdam, createParameters, createRandom, mean, square, sub } from 'agoge/engine'

const vary = ['goalX', 'goalY', 'mass', 'friction', 'force'] as const
const visible = visibleContext(pointMass, vary)
const numEnvs = 128

/** A critically damped spring towards the goal, adapted to the physics; close to optimal. */
function solution({ state, context }: EnvArrays, i: number, axis: number): number {
  const goal = (axis === 0 ? context.goalX : context.goalY)[i]
  const [mass, friction, force] = [context.mass[i], context.friction[i], context.force[i]]
  const [position, velocity] = [state[i * 4 + axis], state[i * 4 + 2 + axis]]
  const push = mass * (25 * (goal - position) - 10 * velocity) + friction * velocity
  return Math.min(1, Math.max(-1, push / force))
}

/** About as many weights as `joint`. */
const hyper = hyperNetwork({ inputs: 4, contexts: 5, hidden: [16], outputs: 2, over: [32] })
const joint = (inputs: number) => mlpNetwork({ inputs, hidden: [56, 56], outputs: 2, activation: 'relu' })

/** Regresses the solutions of a few contexts, and evaluates in others. */
async function zeroShot(
  { seed, budget }: ArmRun,
  definition: EnvironmentDefinition,
  network: Network,
  learningRate: number,
): Promise<ArmResult> {
  const trained = contextSampler(pointMass.context, { vary, seed })
  const environment = createVectorEnvironment(definition, {
    numEnvs,
    seed,
    contextFor: (envIndex, episode) => ({
      ...trained(0, (envIndex + episode) % budget.contexts),
      startSpread: 0.9,
    }),
  })
  environment.reset()
  const shape = [numEnvs, network.inputs]
  const objective = await compileObjective({
    parameters: Object.fromEntries(Object.entries(network.specs).map(([name, spec]) => [name, spec.shape])),
    inputs: { x: { shape }, y: { shape: [numEnvs, 2] } },
    trace: (weights, { x, y }) => ({ loss: mean(square(sub(network.trace(weights, x), y))) }),
  })
  const parameters = createParameters(network.specs, createRandom('network', seed))
  const adam = createAdam(parameters.data.length)
  const random = createRandom('noise', seed)
  const predict = (observations: Float32Array, rows: number, actions: Float32Array): void => {
    network.forward(parameters, observations, rows, actions)
    clipActionRows(definition.action, actions, rows)
  }
  const unseen = contextSampler(pointMass.context, { vary, set: 'interpolation', seed })
  const contextFor = (episode: number) => unseen(0, episode)
  const play = async (episodes: number): Promise<number> =>
    average((await evaluateAgent({ predict }, definition, { episodes, seed, contextFor })).returns)
  const start = await play(50)
  let loss = 0
  for (let update = 0; update < budget.updates; update++) {
    const wanted = Float32Array.from(environment.actions, (_, k) => solution(environment.envs, k >> 1, k & 1))
    const evaluated = await objective.evaluate(parameters, {
      x: { data: environment.observations, shape },
      y: { data: wanted, shape: [numEnvs, 2] },
    })
    loss = evaluated.loss
    adam.step(parameters.data, objective.gradient.data, learningRate * (1 - update / budget.updates))
    environment.actions.set(wanted.map((push) => push + 0.5 * random.normal()))
    environment.step()
  }
  await objective.dispose()
  return { score: await play(200), start, measures: { loss } }
}

export default definePaper({
  id: 'hyperzero',
  title: 'Hypernetworks for Zero-Shot Transfer in Reinforcement Learning',
  theme: 'contextual',
  claim:
    'A hypernetwork that makes the weights of a policy from the parameters of the task, trained on solutions of some tasks, plays others better than one network over state and parameters.',
  arms: {
    // Learning rates: the best of 0.003, 0.01, 0.03 and 0.1 on seeds 301 to 320.
    hypernetwork: (run) => zeroShot(run, visible, hyper, 3e-2),
    concatenated: (run) => zeroShot(run, visible, joint(9), 3e-2),
    blind: (run) => zeroShot(run, pointMass, joint(4), 3e-3),
  },
  metric: 'return of the point mass in unseen contexts, mean of 200',
  budget: { updates: 800, contexts: 40 },
  quick: { updates: 3, contexts: 2 },
  pairing: 'seed',
  effect: { better: 'hypernetwork', than: ['concatenated'], atLeast: 1 },
  checks: [
    {
      about: 'the solutions are fitted where the parameters are seen',
      arm: ['hypernetwork', 'concatenated'],
      of: 'loss',
      atMost: 0.09,
    },
    { about: 'not where they are hidden', arm: 'blind', of: 'loss', atLeast: 0.095 },
    {
      about: 'networks begin without skill',
      arm: ['hypernetwork', 'concatenated'],
      of: 'start',
      atMost: -30,
    },
  ],
  control: { positive: { better: 'concatenated', than: 'blind', atLeast: 10 }, same: 'concatenated' },
  simplifications: [
    'a controller that knows the physics stands for solutions by reinforcement learning',
    'the loss of temporal differences is left out, and there is no value network',
  ],
})
