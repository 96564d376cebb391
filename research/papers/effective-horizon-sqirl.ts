import {
  createVectorEnvironment,
  finiteModel,
  finiteEnvironment,
  effectiveHorizon,
  evaluatePolicy,
  finiteHorizon,
  startValue,
  learnUntil,
  qLearning,
} from 'agoge/classic'
import type { EffectiveHorizon, FiniteModel } from 'agoge/classic'
import { definePaper } from '../runner/paper.ts'
import { average, rankCorrelation } from 'agoge/statistics'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'

interface Task {
  model: FiniteModel
  /** Length of an episode. */
  steps: number
  effective: EffectiveHorizon
}

/** A stochastic chain of some length. Wrong actions have random effects, possibly with a small sure reward. */
function randomTask(seed: number, index: number): Task {
  const random = createRandom('way', seed, index)
  const states = 2 + random.int(6)
  const actions = 2 + random.int(3)
  const slip = 0.3 * random.next()
  const setBack = random.pick([0, 1, states])
  const comfort = random.pick([0, 0.3 * random.next()])
  const right = Array.from({ length: states }, () => random.int(actions))
  const outcomes = (state: number, action: number) =>
    Array.from({ length: actions }, (_, other) => {
      const chosen = (action + other) % actions
      const probability = other === 0 ? 1 - slip : slip / (actions - 1)
      const forward = chosen === right[state]
      const last = forward && state === states - 1
      const sure = !forward && state === 0 && comfort > 0
      const next = forward ? Math.min(states - 1, state + 1) : Math.max(0, state - setBack)
      return { probability, state: next, reward: last ? 1 : sure ? comfort : 0, terminated: last || sure }
    })
  const model = finiteModel({ states, actions, start: 0, outcomes })
  return { model, steps: 3 * states, effective: effectiveHorizon(model, 3 * states) }
}

/** Environment steps until the greedy policy comes within 5% of the optimum; the budget if it never does. */
async function stepsNeeded({ model, steps }: Task, seed: number, budget: number): Promise<number> {
  const definition = finiteEnvironment('way', model, { maxSteps: steps })
  const environment = createVectorEnvironment(definition, { numEnvs: 1, seed })
  environment.reset()
  const learner = qLearning({
    stepSize: 0.1,
    gamma: 1,
    epsilonStart: 0.5,
    epsilonEnd: 0.5,
    explorationFraction: 0,
  })
  const agent = await learner(environment, { seed, totalSteps: budget })
  const states = Float32Array.from({ length: model.states }, (_, state) => state)
  const actions = new Float32Array(model.states)
  const wanted = 0.95 * startValue(model, finiteHorizon(model, steps))
  const until = (): boolean => {
    agent.predict(states, model.states, actions)
    return startValue(model, evaluatePolicy(model, actions, { steps })) >= wanted
  }
  return Math.min(budget, await learnUntil(environment, agent, { steps: budget, every: 16, until }))
}

/** The tasks of a seed with the learner's need of steps in each: the arms predict the same, so it is measured once. */
const measured = new Map<string, Promise<{ tasks: Task[]; needed: number[] }>>()

async function measure({ seed, budget }: ArmRun): Promise<{ tasks: Task[]; needed: number[] }> {
  const tasks = Array.from({ length: budget.tasks }, (_, index) => randomTask(seed, index))
  const needed: number[] = []
  for (const task of tasks) needed.push(await stepsNeeded(task, seed, budget.steps))
  return { tasks, needed }
}

async function correlation(run: ArmRun, predict: (task: Task, index: number) => number): Promise<ArmResult> {
  const key = JSON.stringify([run.seed, run.budget])
  const found = measured.get(key) ?? measure(run)
  measured.set(key, found)
  const { tasks, needed } = await found
  const solved = average(needed.map((steps) => (steps < run.budget.steps ? 1 : 0)))
  const atOnce = average(needed.map((steps) => (steps <= 16 ? 1 : 0)))
  const deep = average(tasks.map(({ effective }) => (effective.k > 1 ? 1 : 0)))
  return { score: rankCorrelation(tasks.map(predict), needed), measures: { solved, atOnce, deep } }
}

export default definePaper({
  id: 'effective-horizon-sqirl',
  title: 'The Effective Horizon Explains Deep RL Performance in Stochastic Environments',
  theme: 'control',
  claim:
    'The effective horizon tells how many steps a learner that explores at random needs in stochastic environments better than bounds by the horizon or the number of states do.',
  arms: {
    'effective-horizon': (run) =>
      correlation(run, ({ model, effective }) => effective.horizon * Math.log(model.actions)),
    horizon: (run) => correlation(run, ({ model, steps }) => steps * Math.log(model.actions)),
    states: (run) => correlation(run, ({ model }) => model.states * model.actions),
    chance: (run) => correlation(run, (_, index) => createRandom('guess', run.seed, index).next()),
  },
  metric: 'rank correlation, over 20 random tasks, of the predicted sample need and that of Q-learning',
  budget: { tasks: 20, steps: 20_000 },
  quick: { tasks: 3, steps: 512 },
  pairing: 'seed',
  effect: { better: 'effective-horizon', than: ['horizon', 'states'], atLeast: 0.1 },
  checks: [
    {
      about: 'the learner solves most tasks within the budget',
      arm: 'effective-horizon',
      of: 'solved',
      atLeast: 0.6,
    },
    { about: 'few are solved at once', arm: 'effective-horizon', of: 'atOnce', atMost: 0.5 },
    {
      about: 'in some tasks one step ahead is enough, in others not',
      arm: 'effective-horizon',
      of: 'deep',
      atLeast: 0.2,
      atMost: 0.8,
    },
  ],
  control: { positive: { better: 'effective-horizon', than: 'chance', atLeast: 0.2 }, same: 'states' },
  simplifications: [
    'Q-learning with a table and random actions in half of its steps stands for PPO and DQN',
    'random ways of 2 to 7 states stand for the sticky-action games and grids of the paper',
  ],
})
