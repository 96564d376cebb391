import { definePaper } from '../runner/paper.ts'
import type { ArmRun } from '../runner/paper.ts'
import { betaDraw, gruLayer, mlpNetwork } from 'agoge/classic'
import {
  compileObjective,
  createAdam,
  createParameters,
  createRandom,
  add,
  broadcastTo,
  concat,
  constant,
  log,
  mean,
  mul,
  neg,
  reshape,
  sigmoid,
  sub,
} from 'agoge/engine'
import type { Random, Tensor } from 'agoge/engine'

const flips = 20
const sequences = 64
const hidden = 16
/** The coins of the family: most land on tails more often than not. */
const prior = { heads: 2, tails: 5 }

/** Flips [sequences, flips], a new coin in every row; 1 is heads. */
const coins = (random: Random): Float32Array =>
  Float32Array.from(
    Array.from({ length: sequences }, () => {
      const chance = betaDraw(prior.heads, prior.tails, random)
      return Array.from({ length: flips }, () => (random.next() < chance ? 1 : 0))
    }).flat(),
  )

/** Predicts from the number of `heads` among the first `seen` flips of a row. */
type Rule = (heads: number, seen: number) => number
const bayes: Rule = (heads, seen) => (prior.heads + heads) / (prior.heads + prior.tails + seen)
const addHalf: Rule = (heads, seen) => (heads + 0.5) / (seen + 1)

/** Predictions [sequences, flips] by a rule. */
const byRule = (data: Float32Array, rule: Rule): Float32Array =>
  data.map((_, k) => {
    const heads = data.subarray(k - (k % flips), k).reduce((a, b) => a + b, 0)
    return rule(heads, k % flips)
  })

/** Mean divergence in nats of the predictions from the exact posterior. */
function divergence(data: Float32Array, predicted: Float32Array): number {
  const exact = byRule(data, bayes)
  const each = exact.map((p, k) => {
    const q = predicted[k]
    return p * Math.log(p / q) + (1 - p) * Math.log((1 - p) / (1 - q))
  })
  return each.reduce((a, b) => a + b, 0) / each.length
}

const gru = gruLayer({ inputs: 1, size: hidden, prefix: '' })
const head = mlpNetwork({ inputs: hidden, hidden: [], outputs: 1, prefix: 'head.' })
const specs = { ...gru.specs, ...head.specs }

/** Probabilities of heads [sequences, flips] given earlier flips; without memory given the last flip only. */
function predict(weights: Record<string, Tensor>, data: Tensor, memory: boolean): Tensor {
  const start = broadcastTo(constant(0), [sequences, hidden])
  const x = reshape(sub(mul(data, 2), 1), [sequences, flips, 1])
  const keep = broadcastTo(constant(memory ? 1 : 0), [sequences, flips])
  const states = [start, ...gru.trace(weights, x, start, keep).slice(0, -1)]
  const chances = states.map((state) => sigmoid(head.trace(weights, state)))
  return concat(chances, 1)
}

const unseenCoins = (seed: number): Float32Array => coins(createRandom('unseen coins', seed))

/** Trains to predict the next flip over coins of the family, and predicts those of unseen ones. */
async function learned({ seed, budget }: ArmRun, memory: boolean): Promise<number> {
  const objective = await compileObjective({
    parameters: Object.fromEntries(Object.entries(specs).map(([name, { shape }]) => [name, shape])),
    inputs: { data: { shape: [sequences, flips] } },
    trace(weights, { data }) {
      const chances = predict(weights, data, memory)
      const right = add(mul(data, log(chances)), mul(sub(1, data), log(sub(1, chances))))
      return { loss: neg(mean(right)), outputs: { chances } }
    },
  })
  const parameters = createParameters(specs, createRandom('network', seed))
  const adam = createAdam(parameters.data.length, { maxGradientNorm: 1 })
  const random = createRandom('coins', seed)
  for (let update = 0; update < budget.updates; update++) {
    await objective.evaluate(parameters, { data: { data: coins(random), shape: [sequences, flips] } })
    adam.step(parameters.data, objective.gradient.data, 5e-3 * (1 - update / budget.updates))
  }
  const unseen = unseenCoins(seed)
  const { outputs } = await objective.evaluate(parameters, {
    data: { data: unseen, shape: [sequences, flips] },
  })
  await objective.dispose()
  return divergence(unseen, Float32Array.from(outputs.chances.data))
}

export default definePaper({
  id: 'meta-sequential-strategies',
  title: 'Meta-Learning of Sequential Strategies',
  theme: 'meta-rl',
  claim:
    'A network with memory that learns to predict over a distribution of tasks comes to predict as Bayes would with that distribution as prior: closer than without memory, and than a rule that does not know the distribution.',
  arms: {
    memory: (run) => learned(run, true),
    'no-memory': (run) => learned(run, false),
    'add-half': ({ seed }) => divergence(unseenCoins(seed), byRule(unseenCoins(seed), addHalf)),
  },
  metric: 'divergence in nats from the exact predictions of flips of unseen coins',
  higherIsBetter: false,
  budget: { updates: 500 },
  quick: { updates: 3 },
  pairing: 'seed',
  effect: { better: 'memory', than: ['no-memory', 'add-half'], atLeast: 1.5, scale: 'ratio' },
  simplifications: ['prediction of coins alone: the agents and bandits of the paper are left out'],
})
