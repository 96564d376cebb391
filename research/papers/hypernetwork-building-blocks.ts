import { hyperNetwork, mlpNetwork } from 'agoge/classic'
import type { Network } from 'agoge/classic'
import { compileObjective, createAdam, createParameters, createRandom, mean, square, sub } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'

const [rows, width] = [64, 6]

/** Exact value of a force (a, b) at a place for an agent that is turned: the distance to the middle afterwards, and the effort. */
function value([a, b, x, y, cos, sin]: number[]): number {
  const [nextX, nextY] = [x + 0.5 * (cos * a - sin * b), y + 0.5 * (sin * a + cos * b)]
  return -Math.hypot(nextX, nextY, 0.1) - 0.1 * (a * a + b * b)
}

function draw(random: Random): number[] {
  const [a, b, x, y] = [0, 0, 0, 0].map(() => 2 * random.next() - 1)
  const angle = 2 * Math.PI * random.next()
  return [a, b, x, y, Math.cos(angle), Math.sin(angle)]
}

const stateFirst = ([a, b, ...state]: number[]): number[] => [...state, a, b]
const networks = {
  'state-makes-weights': hyperNetwork({ inputs: 2, contexts: 4, hidden: [8], outputs: 1, over: [32] }),
  'action-makes-weights': hyperNetwork({ inputs: 4, contexts: 2, hidden: [6], outputs: 1, over: [32] }),
  concatenated: mlpNetwork({ inputs: width, hidden: [32, 32], outputs: 1 }),
}
type Name = keyof typeof networks

/** The gradient by the action, by central differences. */
function slope(of: (row: number[]) => number, row: number[]): number[] {
  const h = 1e-2
  const moved = (k: number, by: number) => of(row.map((v, i) => (i === k ? v + by : v)))
  return [0, 1].map((k) => (moved(k, h) - moved(k, -h)) / (2 * h))
}

/** Cosine of the learned and the true gradient by the action, mean over 500 states and actions; regression from noisy targets. */
async function fit(
  { seed, budget }: ArmRun,
  name: Name,
  learningRate: number,
  updates = budget.updates,
): Promise<ArmResult> {
  const network: Network = networks[name]
  const arrange = name === 'action-makes-weights' ? stateFirst : (row: number[]) => row
  const [shape, to] = [
    [rows, width],
    [rows, 1],
  ]
  const objective = await compileObjective({
    parameters: Object.fromEntries(Object.entries(network.specs).map(([part, spec]) => [part, spec.shape])),
    inputs: { x: { shape }, y: { shape: to } },
    trace: (weights, { x, y }) => ({ loss: mean(square(sub(network.trace(weights, x), y))) }),
  })
  const parameters = createParameters(network.specs, createRandom('network', seed))
  const adam = createAdam(parameters.data.length)
  const random = createRandom('data', seed)
  const data = Array.from({ length: budget.pairs }, () => draw(random)).map((row) => ({
    row,
    target: value(row) + 0.3 * random.normal(),
  }))
  for (let update = 0; update < updates; update++) {
    const drawn = Array.from({ length: rows }, () => random.pick(data))
    const x = Float32Array.from(drawn.flatMap(({ row }) => arrange(row)))
    const y = Float32Array.from(drawn, ({ target }) => target)
    await objective.evaluate(parameters, { x: { data: x, shape }, y: { data: y, shape: to } })
    adam.step(parameters.data, objective.gradient.data, learningRate * (1 - update / updates))
  }
  await objective.dispose()
  const out = new Float32Array(1)
  const learned = (row: number[]): number => {
    network.forward(parameters, Float32Array.from(arrange(row)), 1, out)
    return out[0]
  }
  const unseen = createRandom('unseen', seed)
  const tests = Array.from({ length: 500 }, () => draw(unseen))
  const cosines = tests.map((row) => {
    const [[a, b], [c, d]] = [slope(learned, row), slope(value, row)]
    return (a * c + b * d) / (Math.hypot(a, b) * Math.hypot(c, d) + 1e-12)
  })
  const values = tests.map((row) => value(row))
  const error = average(tests.map((row, k) => (learned(row) - values[k]) ** 2))
  const variance = average(values.map((v) => (v - average(values)) ** 2))
  return { score: average(cosines), measures: { explained: 1 - error / variance } }
}

export default definePaper({
  id: 'hypernetwork-building-blocks',
  title: 'Recomposing the Reinforcement Learning Building Blocks with Hypernetworks',
  theme: 'control',
  claim:
    'A value network over actions whose weights another network makes from the state has better gradients by the action than one network over state and action.',
  arms: {
    'state-makes-weights': (run) => fit(run, 'state-makes-weights', 0.1),
    concatenated: (run) => fit(run, 'concatenated', 0.03),
    'action-makes-weights': (run) => fit(run, 'action-makes-weights', 0.1),
    untrained: (run) => fit(run, 'concatenated', 0.03, 0),
  },
  metric:
    'cosine of the learned and the true gradient of the value by the action, mean over 500 unseen pairs',
  pairing: 'seed',
  effect: { better: 'state-makes-weights', than: ['concatenated'], atLeast: 0.05 },
  checks: [
    {
      about: 'values are learned',
      arm: ['state-makes-weights', 'concatenated'],
      of: 'explained',
      atLeast: 0.5,
    },
    { about: 'values are not learned', arm: 'untrained', of: 'explained', atMost: 0 },
  ],
  control: { positive: { better: 'concatenated', than: 'untrained', atLeast: 0.1 } },
  budget: { updates: 250, pairs: 1000 },
  quick: { updates: 3, pairs: 64 },
  simplifications: [
    'regression from noisy exact values of one environment, a point that is turned, stands for a critic of TD3 or SAC',
    'gradients alone: no actor is trained with them, and nothing of meta-learning',
    'the product of state and action in these values suits a hypernetwork',
    'networks have 1249, 1317 and 1313 weights; rates of 0.01, 0.03 and 0.1 were compared for each',
  ],
})
