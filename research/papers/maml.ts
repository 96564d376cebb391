import { definePaper } from '../runner/paper.ts'
import type { ArmRun } from '../runner/paper.ts'
import {
  compileObjective,
  createAdam,
  createParameters,
  mlp,
  createRandom,
  broadcastTo,
  gradients,
  mean,
  mul,
  square,
  stopGradient,
  sub,
  sum,
} from 'agoge/engine'
import { mlpNetwork } from 'agoge/classic'
import type { Random, Tensor } from 'agoge/engine'

const tasks = 25
const examples = 10
const innerRate = 0.01
const network = mlpNetwork({ inputs: 1, hidden: [40, 40], outputs: 1, activation: 'relu' })
const names = Object.keys(network.specs)
const shapes = Object.fromEntries(names.map((name) => [name, network.specs[name].shape]))

/** Sines of random amplitude and phase: examples for adaptation, and others for evaluation. */
function sines(random: Random) {
  const waves = Array.from({ length: tasks }, () => [0.1 + 4.9 * random.next(), Math.PI * random.next()])
  const shape = [tasks, examples, 1]
  const points = () => {
    const x = Float32Array.from({ length: tasks * examples }, () => 10 * random.next() - 5)
    const y = x.map((value, k) => {
      const [amplitude, phase] = waves[Math.floor(k / examples)]
      return amplitude * Math.sin(value - phase)
    })
    return [
      { data: x, shape },
      { data: y, shape },
    ]
  }
  const [[x, y], [otherX, otherY]] = [points(), points()]
  return { x, y, otherX, otherY }
}

type Weights = Record<string, Tensor>
type Order = 'second' | 'first' | 'none'

/** Mean squared error [tasks], each task with its own weights. */
function errors(weights: Weights, x: Tensor, y: Tensor): Tensor {
  const layers = [0, 1, 2].map((k) => ({ weight: weights[`${k}.weight`], bias: weights[`${k}.bias`] }))
  return mean(square(sub(mlp(x, layers, 'relu'), y)), { axes: [1, 2] })
}

/** The mean error after one step of gradient descent on the examples of each task; `none` takes no step. */
function adaptedError(parameters: Weights, { x, y, otherX, otherY }: Weights, order: Order): Tensor {
  const copies = Object.fromEntries(
    names.map((name) => {
      const shape = shapes[name]
      return [
        name,
        broadcastTo(parameters[name], shape.length === 2 ? [tasks, ...shape] : [tasks, 1, ...shape]),
      ]
    }),
  )
  if (order === 'none') return mean(errors(copies, otherX, otherY))
  const derivatives = gradients(sum(errors(copies, x, y)), Object.values(copies))
  const adapted = names.map((name, k): [string, Tensor] => {
    const gradient = order === 'first' ? stopGradient(derivatives[k]) : derivatives[k]
    return [name, sub(copies[name], mul(gradient, innerRate))]
  })
  return mean(errors(Object.fromEntries(adapted), otherX, otherY))
}

/** Trains on the gradient of one error; the score is the error after adaptation to unseen tasks. */
async function oneStepError({ seed, budget }: ArmRun, order: Order, updates: number): Promise<number> {
  const shape = [tasks, examples, 1]
  const inputs = { x: { shape }, y: { shape }, otherX: { shape }, otherY: { shape } }
  const make = (of: Order) =>
    compileObjective({
      parameters: shapes,
      inputs,
      trace: (parameters, given) => ({ loss: adaptedError(parameters, given, of) }),
    })
  const [training, judging] = [await make(order), await make('first')]
  const parameters = createParameters(network.specs, createRandom('network', seed))
  const adam = createAdam(parameters.data.length)
  const random = createRandom('tasks', seed)
  for (let update = 0; update < updates; update++) {
    await training.evaluate(parameters, sines(random))
    adam.step(parameters.data, training.gradient.data, 1e-3)
  }
  const unseen = createRandom('unseen tasks', seed)
  let total = 0
  for (let k = 0; k < budget.batches; k++) total += (await judging.evaluate(parameters, sines(unseen))).loss
  await Promise.all([training.dispose(), judging.dispose()])
  return total / budget.batches
}

export default definePaper({
  id: 'maml',
  title: 'Model-Agnostic Meta-Learning for Fast Adaptation of Deep Networks',
  theme: 'meta-rl',
  claim:
    'First weights that were trained through the step of adaptation adapt to a new task in one step better than weights trained on all tasks together, and than random ones.',
  arms: {
    'second-order': (run) => oneStepError(run, 'second', run.budget.updates),
    'first-order': (run) => oneStepError(run, 'first', run.budget.updates),
    'trained-on-all': (run) => oneStepError(run, 'none', run.budget.updates),
    random: (run) => oneStepError(run, 'none', 0),
  },
  metric: 'mean squared error on unseen sines after one step on ten examples',
  higherIsBetter: false,
  budget: { updates: 600, batches: 20 },
  quick: { updates: 3, batches: 1 },
  pairing: 'seed',
  effect: { better: 'second-order', than: ['trained-on-all', 'random'], atLeast: 1.1, scale: 'ratio' },
  simplifications: ['the regression of the paper alone, with 600 of its 70 000 updates'],
})
