import { gruLayer, mlpNetwork } from 'agoge/classic'
import {
  add,
  broadcastTo,
  compileObjective,
  concat,
  constant,
  createAdam,
  createParameters,
  createRandom,
  log,
  mean,
  mul,
  neg,
  reshape,
  sigmoid,
  sub,
} from 'agoge/engine'
import type { Tensor } from 'agoge/engine'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import {
  byCount,
  coins,
  every,
  fittedBeta,
  flips,
  judged,
  sequences,
  shortMemory,
} from '../testbeds/coins/coins.ts'

const hidden = 16
const gru = gruLayer({ inputs: 1, size: hidden, prefix: '' })
const head = mlpNetwork({ inputs: hidden, hidden: [], outputs: 1, prefix: 'head.' })
const specs = { ...gru.specs, ...head.specs }
const shape = [sequences, flips]

/** Probabilities of heads [sequences, flips], given the flips before. */
function predict(weights: Record<string, Tensor>, data: Tensor): Tensor {
  const start = broadcastTo(constant(0), [sequences, hidden])
  const x = reshape(sub(mul(data, 2), 1), [sequences, flips, 1])
  const states = [start, ...gru.trace(weights, x, start, broadcastTo(constant(1), shape)).slice(0, -1)]
  const chances = states.map((state) => sigmoid(head.trace(weights, state)))
  return concat(chances, 1)
}

/** A recurrent network that learns to predict the next flip, over coins of the distribution. */
async function memory({ seed, budget }: ArmRun, updates: number, rate: number): Promise<ArmResult> {
  const objective = await compileObjective({
    parameters: Object.fromEntries(Object.entries(specs).map(([name, spec]) => [name, spec.shape])),
    inputs: { data: { shape } },
    trace(weights, { data }) {
      const chances = predict(weights, data)
      const right = add(mul(data, log(chances)), mul(sub(1, data), log(sub(1, chances))))
      return { loss: neg(mean(right)), outputs: { chances } }
    },
  })
  const parameters = createParameters(specs, createRandom('network', seed))
  const adam = createAdam(parameters.data.length, { maxGradientNorm: 1 })
  const random = createRandom('coins', seed)
  for (let update = 0; update < updates; update++) {
    await objective.evaluate(parameters, { data: { data: coins(random), shape } })
    adam.step(parameters.data, objective.gradient.data, rate * (1 - update / budget.updates))
  }
  const predicted = new Float32Array(every.length)
  for (let at = 0; at < every.length; at += sequences * flips) {
    const data = every.slice(at, at + sequences * flips)
    const { outputs } = await objective.evaluate(parameters, { data: { data, shape } })
    predicted.set(Float32Array.from(outputs.chances.data), at)
  }
  await objective.dispose()
  return judged(predicted)
}

/** The best of 0.005, 0.01, 0.02 and 0.04 on seeds 201 to 220; the rivals have nothing to tune. */
const learningRate = 0.02

export default definePaper({
  id: 'meta-sequential-strategies',
  title: 'Meta-Learning of Sequential Strategies',
  theme: 'meta-rl',
  claim:
    'A network with memory that learns to predict over a distribution of tasks comes to predict as Bayes would with that distribution as prior: closer than with a short memory, than a rule that does not know the distribution, and than Bayes with a prior of one cluster that is fitted to the same tasks.',
  arms: {
    memory: (run) => memory(run, run.budget.updates, learningRate),
    'short-memory': ({ seed, budget }) => shortMemory(seed, budget.updates, 3),
    'add-half': () => judged(byCount((heads, seen) => (heads + 0.5) / (seen + 1))),
    'fitted-beta': ({ seed, budget }) => fittedBeta(seed, budget.updates),
    untrained: (run) => memory(run, 0, 0),
  },
  metric:
    'divergence in nats from the exact predictions of the flips of unseen coins, exact mean over all sequences',
  higherIsBetter: false,
  budget: { updates: 300 },
  quick: { updates: 3 },
  pairing: 'seed',
  effect: {
    better: 'memory',
    than: ['short-memory', 'add-half', 'fitted-beta'],
    atLeast: 1.5,
    scale: 'ratio',
  },
  checks: [
    { about: 'it predicts nearly as Bayes does', arm: 'memory', of: 'score', atMost: 0.005 },
    { about: 'what it remembers is the number of heads', arm: 'memory', of: 'order', atMost: 0.1 },
    { about: 'the order of the flips counts', arm: 'short-memory', of: 'order', atLeast: 0.2 },
  ],
  control: { positive: { better: 'memory', than: 'untrained', atLeast: 3 }, same: 'short-memory' },
  simplifications: [
    'prediction of ten flips of coins alone: the agents and bandits of the paper are left out',
    'tables of frequencies stand for networks with a short memory',
  ],
})
