import { evaluateAgent } from 'agoge'
import type { ClassicAgent } from 'agoge'
import { createVectorEnvironment, learnUntil, qLearning } from 'agoge/classic'
import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { choices, levels, threeBodies } from '../testbeds/three-bodies/three-bodies.ts'

type Predict = ClassicAgent['predict']

/** Loss of the choices of `predict`, and how much they vary: the standard deviation of the exponent. */
async function play({ seed, budget: { episodes } }: ArmRun, predict: Predict): Promise<ArmResult> {
  let [count, sum, squares] = [0, 0, 0]
  const counted: Predict = (observations, rows, actions) => {
    predict(observations, rows, actions)
    for (let i = 0; i < rows; i++, count++) {
      sum += actions[i]
      squares += actions[i] ** 2
    }
  }
  const { returns } = await evaluateAgent({ predict: counted }, threeBodies, { episodes, seed })
  const exponent = sum / count
  return {
    score: -average(returns),
    measures: { exponent, varied: Math.sqrt(Math.max(0, squares / count - exponent ** 2)) },
  }
}

/** The exponent as a function of octaves of closeness and octaves of speed. */
const byRule =
  (exponent: (closeness: number, speed: number) => number) =>
  (run: ArmRun): Promise<ArmResult> =>
    play(run, (observations, rows, actions) => {
      for (let i = 0; i < rows; i++) {
        const chosen = exponent(
          (observations[i] % levels) / 3 - 1,
          Math.floor(observations[i] / levels) - 1.5,
        )
        actions[i] = Math.max(0, Math.min(choices - 1, Math.round(chosen)))
      }
    })

const fixed = (choice: number) => byRule(() => choice)
/** The step is in proportion to the time of free fall of the closest two. */
const byFall = (finer: number) => byRule((closeness) => finer + 1.5 * closeness)
/** To that or to the time until they would meet at their speed, whichever is shorter: the usual rule. */
const byTimes = (finer: number) =>
  byRule((closeness, speed) => finer + Math.max(1.5 * closeness, closeness + speed))

const byChance = (run: ArmRun): Promise<ArmResult> => {
  const random = createRandom('choices', run.seed)
  return play(run, (_, rows, actions) => {
    for (let i = 0; i < rows; i++) actions[i] = random.int(choices)
  })
}

async function learned(run: ArmRun): Promise<ArmResult> {
  const { seed, budget } = run
  const environment = createVectorEnvironment(threeBodies, { numEnvs: 4, seed })
  environment.reset()
  const learner = qLearning({
    stepSize: 0.02,
    // The bodies go on alike whatever is chosen.
    gamma: 0,
    initialValue: -1,
    epsilonStart: 1,
    epsilonEnd: 0.1,
    explorationFraction: 0.5,
  })
  const agent = await learner(environment, { seed, totalSteps: budget.steps })
  await learnUntil(environment, agent, { steps: budget.steps })
  return play(run, (observations, rows, actions) => agent.predict(observations, rows, actions))
}

export default definePaper({
  id: 'three-body-time-stepping',
  title: 'Reinforcement Learning for Adaptive Time-Stepping in the Chaotic Gravitational Three-Body Problem',
  theme: 'applications',
  claim:
    'An agent that chooses the time step by the state of the system balances error against computing better than the best fixed step, and than the usual rules with the best of their fixed parameters.',
  arms: {
    learned,
    'fixed-step': fixed(4),
    'by-fall': byFall(3),
    'by-times': byTimes(3),
    'by-chance': byChance,
  },
  metric:
    'energy errors (1 for 1e-3 in an interval, at most 2) and force evaluations (1 for 128), sum over 100 intervals',
  higherIsBetter: false,
  pairing: 'seed',
  effect: {
    better: 'learned',
    than: ['fixed-step', 'by-fall', 'by-times'],
    atLeast: 1.05,
    scale: 'ratio',
  },
  checks: [
    {
      about: 'steps vary with the state',
      arm: ['learned', 'by-fall', 'by-times'],
      of: 'varied',
      atLeast: 0.5,
    },
    { about: 'a fixed step does not', arm: 'fixed-step', of: 'varied', atMost: 0.01 },
    {
      about: 'neither the coarsest nor the finest does',
      arm: 'learned',
      of: 'exponent',
      atLeast: 1,
      atMost: 6,
    },
  ],
  control: { positive: { better: 'learned', than: 'by-chance', atLeast: 1.3 }, same: 'by-times' },
  budget: { steps: 20_000, episodes: 100 },
  quick: { steps: 200, episodes: 2 },
  simplifications: [
    'a table over the distance and the approach of the closest two stands for a deep network over all positions and velocities; leapfrog stands for Hermite integration',
    'each interval begins where the finest choice gets to, so all arms see the same states and a choice costs only in its own interval',
    'rules and the agent see the same state; what is learned is not carried to other integrators',
    'the best of seven: fixed steps of 2 to 128 an interval, factors of rules in half octaves, step sizes of learning of 0.003 to 0.4, on seeds 201 to 210',
  ],
})
