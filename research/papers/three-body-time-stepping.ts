import { evaluateAgent } from 'agoge'
import type { ClassicAgent } from 'agoge'
import { createVectorEnvironment, defineEnvironment, discrete, qLearning, learnUntil } from 'agoge/classic'
import { definePaper } from '../runner/paper.ts'
import { average } from 'agoge/statistics'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'

/** Time between two choices. Choice k integrates it in 2^k steps. */
const interval = 0.1
const choices = 8
/** Discrete states: the distance of the closest two bodies, on a logarithmic scale. */
const closeness = 20
/** The energy error in an interval that costs as much as the finest choice. */
const badError = 1e-3
const pull = new Float64Array(6)

/** Writes the accelerations of three bodies of mass 1 in the plane; returns the smallest distance and the potential. */
function attract(state: Float64Array, s: number): { least: number; potential: number } {
  pull.fill(0)
  let [potential, least] = [0, Infinity]
  for (let i = 0; i < 3; i++)
    for (let j = 0; j < i; j++) {
      const dx = state[s + 2 * j] - state[s + 2 * i]
      const dy = state[s + 2 * j + 1] - state[s + 2 * i + 1]
      const distance = Math.sqrt(dx * dx + dy * dy + 1e-4)
      const strength = 1 / distance ** 3
      potential -= 1 / distance
      least = Math.min(least, distance)
      pull[2 * i] += strength * dx
      pull[2 * i + 1] += strength * dy
      pull[2 * j] -= strength * dx
      pull[2 * j + 1] -= strength * dy
    }
  return { least, potential }
}

const energy = (state: Float64Array, s: number): number =>
  state.subarray(s + 6, s + 12).reduce((sum, v) => sum + v ** 2 / 2, attract(state, s).potential)

/** Three bodies that fall towards each other from rest. State: positions [6], velocities [6]. */
const threeBodies = defineEnvironment({
  name: 'three-bodies',
  observation: discrete(closeness),
  action: discrete(choices),
  context: {},
  stateSize: 12,
  maxSteps: 100,
  reset({ state }, i, random) {
    for (let k = 0; k < 12; k++) state[i * 12 + k] = k < 6 ? random.uniform(-1, 1) : 0
  },
  step({ state, actions, rewards, terminated }, i) {
    const s = i * 12
    const steps = 2 ** actions[i]
    const dt = interval / steps
    const before = energy(state, s)
    for (let step = 0; step < steps; step++) {
      for (let k = s; k < s + 6; k++) {
        state[k + 6] += (dt / 2) * pull[k - s]
        state[k] += dt * state[k + 6]
      }
      attract(state, s)
      for (let k = 0; k < 6; k++) state[s + 6 + k] += (dt / 2) * pull[k]
    }
    rewards[i] = -Math.min(1, Math.abs(energy(state, s) - before) / badError) - steps / 2 ** (choices - 1)
    terminated[i] = 0
  },
  observe({ state, observations }, i) {
    const level = 4 * Math.log2(2 / attract(state, i * 12).least)
    observations[i] = Math.max(0, Math.min(closeness - 1, Math.floor(level)))
  },
})

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
  return { score: -average(returns), measures: { varied: Math.sqrt(squares / count - (sum / count) ** 2) } }
}

const fixed = (choice: number) => (run: ArmRun) =>
  play(run, (_, rows, actions) => void actions.fill(choice, 0, rows))

/** The classical rule: the step is proportional to the time that the closest two take around each other. The factor is the best of four. */
const byCloseness = (run: ArmRun): Promise<ArmResult> =>
  play(run, (observations, rows, actions) => {
    for (let i = 0; i < rows; i++)
      actions[i] = Math.max(0, Math.min(choices - 1, Math.round((1.5 * observations[i]) / 4 - 3)))
  })

const byChance = (run: ArmRun): Promise<ArmResult> => {
  const random = createRandom('choices', run.seed)
  return play(run, (_, rows, actions) => {
    for (let i = 0; i < rows; i++) actions[i] = random.int(choices)
  })
}

const table = { stepSize: 0.02, gamma: 0, initialValue: -1 }

async function learned(run: ArmRun): Promise<ArmResult> {
  const { seed, budget } = run
  const environment = createVectorEnvironment(threeBodies, { numEnvs: 4, seed })
  environment.reset()
  const learner = qLearning({ ...table, epsilonStart: 1, epsilonEnd: 0.1, explorationFraction: 0.5 })
  const agent = await learner(environment, { seed, totalSteps: budget.steps })
  await learnUntil(environment, agent, { steps: budget.steps })
  return play(run, (observations, rows, actions) => agent.predict(observations, rows, actions))
}

export default definePaper({
  id: 'three-body-time-stepping',
  title: 'Reinforcement Learning for Adaptive Time-Stepping in the Chaotic Gravitational Three-Body Problem',
  theme: 'applications',
  claim:
    'An agent that chooses the time step by the state of the system balances error against computing better than whatever fixed step, and than a step in proportion to how close the bodies are.',
  arms: {
    learned,
    'step-1/20': fixed(1),
    'step-1/40': fixed(2),
    'step-1/80': fixed(3),
    'step-1/160': fixed(4),
    'by-closeness': byCloseness,
    'by-chance': byChance,
  },
  metric:
    'energy errors (1 for 1e-3 or more in an interval) and force evaluations (1 for 128), sum over 100 intervals',
  higherIsBetter: false,
  pairing: 'seed',
  effect: {
    better: 'learned',
    than: ['step-1/20', 'step-1/40', 'step-1/80', 'step-1/160', 'by-closeness'],
    atLeast: 0.5,
  },
  checks: [
    { about: 'the agent varies the step', arm: 'learned', of: 'varied', atLeast: 0.5 },
    { about: 'fixed steps do not', arm: ['step-1/40', 'step-1/80'], of: 'varied', atMost: 0.01 },
  ],
  control: { positive: { better: 'learned', than: 'by-chance', atLeast: 5 }, same: 'step-1/80' },
  budget: { steps: 40_000, episodes: 400 },
  quick: { steps: 200, episodes: 2 },
  simplifications: [
    'a table over the least distance stands for a deep network over all positions and velocities',
  ],
})
