import {
  defineEnvironment,
  discrete,
  fastStream,
  createVectorEnvironment,
  qLearning,
  learnUntil,
} from 'agoge/classic'
import type { ClassicAgent } from 'agoge/classic'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { evaluateAgent } from 'agoge'
import { average } from 'agoge/statistics'
import { createRandom } from 'agoge/engine'

const size = 8
const cells = size ** 3
/** Opposite directions stand side by side, so that `direction ^ 1` is the way back. */
const moves = [1, -1, size, -size, size * size, -size * size]
/** Each reading of the biomarker has an error of a few percent. */
const noise = 0.05

/** The neighbour in a direction, or the cell itself at the edge. */
function neighbour(cell: number, direction: number): number {
  const stride = Math.abs(moves[direction])
  const place = Math.floor(cell / stride) % size
  const stays = moves[direction] > 0 ? place === size - 1 : place === 0
  return stays ? cell : cell + moves[direction]
}

/** A block of tissue. Robots cannot enter every third cell; the biomarker spreads from the tumour through all cells. */
function tissue(seed: number) {
  const random = createRandom('tissue', seed)
  const tumour = random.int(cells)
  let field = new Float64Array(cells)
  for (let sweep = 0; sweep < 100; sweep++) {
    const before = field
    field = before.map((_, cell) =>
      cell === tumour ? 1 : moves.reduce((sum, _move, d) => sum + 0.95 * before[neighbour(cell, d)], 0) / 6,
    )
  }
  // Drawn again where barriers shut the tumour in. Robots start where a way leads to it.
  for (;;) {
    const blocked = Uint8Array.from({ length: cells }, (_, cell) =>
      cell !== tumour && random.next() < 1 / 3 ? 1 : 0,
    )
    const reached = new Set([tumour])
    for (const cell of reached)
      for (let d = 0; d < 6; d++) if (blocked[neighbour(cell, d)] === 0) reached.add(neighbour(cell, d))
    if (reached.size > cells / 3) return { tumour, field, blocked, starts: [...reached].slice(1) }
  }
}

/**
 * A search in one of some tissues. Actions: towards the k-th highest reading among the neighbours. Observation: which of these are
 * blocked, and which of them leads back to where the robot comes from: what it senses, not where it is. Reward: what the logarithm of the
 * concentration gains, less the cost of a step.
 */
function search(from: number, tissues: number) {
  const blocks = Array.from({ length: tissues }, (_, k) => tissue(from + k))
  /** Tissue, cell, last direction (6 at the start), and the six directions by reading. */
  const width = 9
  return defineEnvironment({
    name: 'tissue',
    observation: discrete(64 * 7),
    action: discrete(6),
    context: {},
    stateSize: width,
    maxSteps: 100,
    reset({ state }, i, random) {
      const block = random.integers(tissues)
      const { starts } = blocks[block]
      state[i * width] = block
      state[i * width + 1] = starts[random.integers(starts.length)]
      state[i * width + 2] = 6
      rank(state, i, random)
    },
    step({ state, actions, rewards, terminated }, i, random) {
      const s = i * width
      const direction = state[s + 3 + actions[i]]
      const { blocked, tumour, field } = blocks[state[s]]
      const before = field[state[s + 1]]
      const next = neighbour(state[s + 1], direction)
      if (next !== state[s + 1] && blocked[next] === 0) {
        state[s + 1] = next
        state[s + 2] = direction
      }
      terminated[i] = state[s + 1] === tumour ? 1 : 0
      rewards[i] = Math.log(field[state[s + 1]] / before) - 0.2
      rank(state, i, random)
    },
    observe({ state, observations }, i) {
      const s = i * width
      let [mask, back] = [0, 6]
      for (let k = 0; k < 6; k++) {
        const direction = state[s + 3 + k]
        const next = neighbour(state[s + 1], direction)
        if (next === state[s + 1] || blocks[state[s]].blocked[next] === 1) mask += 2 ** k
        if (state[s + 2] < 6 && direction === (state[s + 2] ^ 1)) back = k
      }
      observations[i] = 7 * mask + back
    },
  })

  /** Reads the biomarker in the neighbours and writes the directions, highest reading first. */
  function rank(state: Float64Array, i: number, random: { normal(): number }): void {
    const s = i * width
    const { field } = blocks[state[s]]
    const readings = moves.map((_, d) => field[neighbour(state[s + 1], d)] * (1 + noise * random.normal()))
    const order = [0, 1, 2, 3, 4, 5].toSorted((a, b) => readings[b] - readings[a])
    for (let k = 0; k < 6; k++) state[s + 3 + k] = order[k]
  }
}

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
