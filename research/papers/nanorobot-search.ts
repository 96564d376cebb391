import { createVectorEnvironment, finiteModel, finiteEnvironment, qLearning, learnUntil } from 'agoge/classic'
import type { FiniteDefinition } from 'agoge/classic'
import { definePaper } from '../runner/paper.ts'
import type { ArmRun } from '../runner/paper.ts'
import { evaluateAgent } from 'agoge'
import type { ClassicAgent } from 'agoge'
import { createRandom } from 'agoge/engine'

const size = 8
const cells = size ** 3
const moves = [1, -1, size, -size, size * size, -size * size]
const maxSteps = 100

/** The neighbour in the direction of an action, or the cell itself at the edge. */
function neighbour(cell: number, action: number): number {
  const stride = Math.abs(moves[action])
  const place = Math.floor(cell / stride) % size
  const stays = moves[action] > 0 ? place === size - 1 : place === 0
  return stays ? cell : cell + moves[action]
}

/** A block of tissue. Robots cannot enter every third cell; the biomarker spreads from the tumour through all cells. */
function tissue(seed: number): { definition: FiniteDefinition; field: Float64Array } {
  const random = createRandom('tissue', seed)
  const tumour = random.int(cells)
  const blocked = Uint8Array.from({ length: cells }, (_, cell) =>
    cell !== tumour && random.next() < 1 / 3 ? 1 : 0,
  )
  let field = new Float64Array(cells)
  for (let sweep = 0; sweep < 300; sweep++) {
    const before = field
    field = before.map((_, cell) =>
      cell === tumour ? 1 : moves.reduce((sum, _move, a) => sum + 0.95 * before[neighbour(cell, a)], 0) / 6,
    )
  }
  const free = Float64Array.from(blocked, (wall, cell) => (wall === 0 && cell !== tumour ? 1 : 0))
  const model = finiteModel({
    states: cells,
    actions: moves.length,
    start: free.map((value) => value / free.reduce((a, b) => a + b, 0)),
    outcomes(cell, action) {
      const next = blocked[neighbour(cell, action)] === 1 ? cell : neighbour(cell, action)
      return [{ probability: 1, state: next, reward: next === tumour ? 1 : 0, terminated: next === tumour }]
    },
  })
  return { definition: finiteEnvironment('tissue', model, { maxSteps }), field }
}

/** Mean number of steps to the tumour; the limit if it is not found. */
async function steps(
  { seed, budget }: ArmRun,
  agent: Pick<ClassicAgent, 'predict'>,
  definition: FiniteDefinition,
): Promise<number> {
  const { lengths } = await evaluateAgent(agent, definition, { episodes: budget.episodes, seed })
  return lengths.reduce((a, b) => a + b, 0) / lengths.length
}

async function learned(run: ArmRun): Promise<number> {
  const { seed, budget } = run
  const { definition } = tissue(seed)
  const environment = createVectorEnvironment(definition, { numEnvs: 1, seed })
  environment.reset()
  const config = { stepSize: 1, gamma: 0.95, epsilonStart: 1, epsilonEnd: 0.1, explorationFraction: 0.5 }
  const agent = await qLearning(config)(environment, { seed, totalSteps: budget.steps })
  await learnUntil(environment, agent, { steps: budget.steps })
  return steps(run, agent, definition)
}

/** Climbs towards the highest concentration; each reading has an error of a few percent. */
function greedyClimb(run: ArmRun): Promise<number> {
  const { definition, field } = tissue(run.seed)
  const random = createRandom('readings', run.seed)
  const reading = (cell: number): number => field[cell] * (1 + run.budget.noise * random.normal())
  const predict: ClassicAgent['predict'] = (observations, rows, actions) => {
    for (let i = 0; i < rows; i++) {
      const readings = moves.map((_, action) => reading(neighbour(observations[i], action)))
      actions[i] = readings.indexOf(Math.max(...readings))
    }
  }
  return steps(run, { predict }, definition)
}

function randomWalk(run: ArmRun): Promise<number> {
  const random = createRandom('walk', run.seed)
  const predict: ClassicAgent['predict'] = (_, rows, actions) => {
    for (let i = 0; i < rows; i++) actions[i] = random.int(moves.length)
  }
  return steps(run, { predict }, tissue(run.seed).definition)
}

export default definePaper({
  id: 'nanorobot-search',
  title:
    'Simulation of Nanorobots with Artificial Intelligence and Reinforcement Learning for Advanced Cancer Cell Detection and Tracking',
  theme: 'applications',
  claim:
    'In tissue with barriers, a robot that has learned by Q-learning comes to the tumour sooner than one that climbs the concentration of the biomarker, and than one that drifts.',
  arms: { 'q-learning': learned, 'greedy-climb': greedyClimb, 'random-walk': randomWalk },
  metric: 'steps to the tumour in a block of 8 x 8 x 8 cells, 100 where it is not found, mean over starts',
  higherIsBetter: false,
  budget: { steps: 200_000, episodes: 200, noise: 0.05 },
  quick: { steps: 500, episodes: 5, noise: 0.05 },
  pairing: 'seed',
  effect: { better: 'q-learning', than: ['greedy-climb', 'random-walk'], atLeast: 5 },
  simplifications: ['the robot knows where it is, and learns in the tissue that it then searches'],
})
