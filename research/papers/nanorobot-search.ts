import { createVectorEnvironment, fastStream, learnUntil, qLearning } from 'agoge/classic'
import type { ClassicAgent } from 'agoge/classic'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { evaluateAgent } from 'agoge'
import { average } from 'agoge/statistics'
import { search } from '../testbeds/tissue/tissue.ts'

type Predict = ClassicAgent['predict']

/** Mean number of steps to the tumour in tissues that training has not seen; the limit if it is not found. */
async function steps({ seed, budget }: ArmRun, predict: Predict): Promise<number> {
  const unseen = search(1_000_000 + 100 * seed, 20)
  const { lengths } = await evaluateAgent({ predict }, unseen, { episodes: budget.episodes, seed })
  return average(Array.from(lengths))
}

async function learned(run: ArmRun): Promise<ArmResult> {
  const { seed, budget } = run
  const trained = search(100 * seed, 20)
  const environment = createVectorEnvironment(trained, { numEnvs: 1, seed })
  environment.reset()
  const config = { stepSize: 0.02, gamma: 0.95, epsilonStart: 1, epsilonEnd: 0.1, explorationFraction: 0.5 }
  const agent = await qLearning(config)(environment, { seed, totalSteps: budget.steps })
  const predict: Predict = (observations, rows, actions) => agent.predict(observations, rows, actions)
  const start = await steps(run, predict)
  await learnUntil(environment, agent, { steps: budget.steps })
  const { lengths } = await evaluateAgent(agent, trained, { episodes: budget.episodes, seed })
  return { score: await steps(run, predict), start, measures: { inTraining: average(Array.from(lengths)) } }
}

/** Towards the highest reading that is free; by chance with some probability. If `forward`, back only out of a dead end. */
const climb = (run: ArmRun, byChance: number, forward = false): Promise<number> => {
  const random = fastStream('climb', run.seed)
  return steps(run, (observations, rows, actions) => {
    for (let i = 0; i < rows; i++) {
      const [mask, back] = [Math.floor(observations[i] / 7), observations[i] % 7]
      const free = [0, 1, 2, 3, 4, 5].filter((k) => (mask & (1 << k)) === 0)
      const onward = forward && free.length > 1 ? free.filter((k) => k !== back) : free
      actions[i] =
        onward.length === 0
          ? 0
          : random.random() < byChance
            ? onward[random.integers(onward.length)]
            : onward[0]
    }
  })
}

export default definePaper({
  id: 'nanorobot-search',
  title:
    'Simulation of Nanorobots with Artificial Intelligence and Reinforcement Learning for Advanced Cancer Cell Detection and Tracking',
  theme: 'applications',
  claim:
    'In tissue with barriers that it has never been in, a robot that has learned by Q-learning comes to the tumour sooner than rules that climb the concentration of the biomarker, and than one that drifts.',
  // Step size and discount, and the chance of a random move, are the best of small grids on other seeds.
  arms: {
    'q-learning': learned,
    climb: (run) => climb(run, 0),
    'noisy-climb': (run) => climb(run, 0.1),
    'forward-climb': (run) => climb(run, 0.05, true),
    'random-walk': (run) => climb(run, 1),
  },
  metric:
    'steps to the tumour in unseen blocks of 8 x 8 x 8 cells, 100 where it is not found, mean of 400 searches in 20 blocks',
  higherIsBetter: false,
  pairing: 'seed',
  effect: { better: 'q-learning', than: ['climb', 'noisy-climb', 'forward-climb'], atLeast: 2 },
  checks: [
    { about: 'the robot has learned in its tissues', arm: 'q-learning', of: 'inTraining', atMost: 40 },
    { about: 'an untrained robot does not find the tumour', arm: 'q-learning', of: 'start', atLeast: 60 },
    { about: 'barriers stop a climb', arm: 'climb', of: 'score', atLeast: 15 },
  ],
  control: { positive: { better: 'q-learning', than: 'random-walk', atLeast: 10 }, same: 'forward-climb' },
  budget: { steps: 100_000, episodes: 400 },
  quick: { steps: 500, episodes: 5 },
  simplifications: [
    'the robot senses which neighbouring cells are blocked, and how their readings rank',
    'a grid of cells stands for the space of the simulation',
  ],
})
