import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { benchmark, options } from '../testbeds/graph-networks/graph-networks.ts'
import { each } from '../testbeds/each.ts'
import type { Architecture } from '../testbeds/graph-networks/graph-networks.ts'

const uniform = (random: Random): Architecture => options.map((count) => random.int(count))

/** Probabilities of the options of each component, learned by REINFORCE against a moving mean. */
function controller(rate: number) {
  const logits = options.map((count) => each(count).map(() => 0))
  const chances = (component: number): number[] => {
    const e = logits[component].map((v) => Math.exp(v))
    return e.map((v) => v / e.reduce((a, b) => a + b))
  }
  return {
    sample: (component: number, random: Random) => random.weighted(chances(component)),
    entropy: (component: number) => -chances(component).reduce((sum, p) => sum + p * Math.log(p), 0),
    learn: (component: number, option: number, advantage: number) => {
      const p = chances(component)
      p.forEach((chance, k) => (logits[component][k] += rate * advantage * (Number(k === option) - chance)))
    },
  }
}
const searches = {
  /** Changes one component of the best architecture, a component of which the controller is unsure. */
  agnn(rate: number) {
    const { sample, entropy, learn } = controller(rate)
    const best = { architecture: [] as Architecture, validation: 0 }
    return (random: Random) => {
      const component = random.weighted(options.map((_, k) => entropy(k)))
      const first = best.architecture.length === 0
      const architecture = first
        ? uniform(random)
        : best.architecture.with(component, sample(component, random))
      return {
        architecture,
        learn: (validation: number) => {
          if (!first) learn(component, architecture[component], validation - best.validation)
          if (validation > best.validation) Object.assign(best, { architecture, validation })
        },
      }
    }
  },
  /** Samples all components at once. */
  'whole-architectures'(rate: number) {
    const { sample, learn } = controller(rate)
    let mean = 0.5
    return (random: Random) => {
      const architecture = options.map((_, component) => sample(component, random))
      return {
        architecture,
        learn: (validation: number) => {
          architecture.forEach((option, component) => learn(component, option, validation - mean))
          mean += 0.2 * (validation - mean)
        },
      }
    }
  },
  random: () => (random: Random) => ({ architecture: uniform(random), learn: () => {} }),
  /** Changes a random component of the best of a few that were drawn from the last ones. */
  evolution() {
    const recent: { architecture: Architecture; validation: number }[] = []
    return (random: Random) => {
      const parent =
        recent.length < 8
          ? undefined
          : each(4)
              .map(() => random.pick(recent))
              .reduce((a, b) => (b.validation > a.validation ? b : a))
      const component = random.int(options.length)
      const architecture =
        parent === undefined
          ? uniform(random)
          : parent.architecture.with(component, random.int(options[component]))
      return {
        architecture,
        learn: (validation: number) => {
          recent.push({ architecture, validation })
          if (recent.length > 16) recent.shift()
        },
      }
    }
  },
}
type Name = keyof typeof searches
function run({ seed, budget }: ArmRun, name: Name, rate = 3): ArmResult {
  const random = createRandom('search', seed)
  const { evaluate, known } = benchmark(seed)
  const propose = searches[name](rate)
  for (let trial = 0; trial < 4 * budget.trainings && known.size < budget.trainings; trial++) {
    const { architecture, learn } = propose(random)
    learn(evaluate(architecture).validation)
  }
  const best = [...known.values()].reduce((a, b) => (b.validation > a.validation ? b : a))
  return {
    score: best.test,
    measures: {
      validation: best.validation,
      trained: known.size,
      mean: average([...known.values()].map((v) => v.validation)),
    },
  }
}
export default definePaper({
  id: 'auto-gnn',
  title: 'Auto-GNN: Neural Architecture Search of Graph Neural Networks',
  theme: 'curriculum-autorl',
  claim:
    'A controller that changes one component of the best graph network at a time finds a more accurate one, with as many trainings, than one that samples whole architectures, than random search, and than evolution.',
  arms: {
    agnn: (input) => run(input, 'agnn'),
    'whole-architectures': (input) => run(input, 'whole-architectures'),
    random: (input) => run(input, 'random'),
    evolution: (input) => run(input, 'evolution'),
    'first-drawn': (input) => run({ ...input, budget: { trainings: 1 } }, 'random'),
  },
  metric: 'accuracy on 100 test graphs of the network with the best validation accuracy',
  pairing: 'seed',
  effect: { better: 'agnn', than: ['whole-architectures', 'random', 'evolution'], atLeast: 0.01 },
  checks: [
    {
      about: 'as many trainings',
      arm: ['agnn', 'whole-architectures', 'random', 'evolution'],
      of: 'trained',
      atLeast: 39,
    },
    { about: 'its networks are better than random ones', arm: 'agnn', of: 'mean', atLeast: 0.68 },
  ],
  control: { positive: { better: 'random', than: 'first-drawn', atLeast: 0.03 }, same: 'random' },
  budget: { trainings: 40 },
  quick: { trainings: 2 },
  simplifications: [
    'hidden layers have fixed random weights and only the readout is fitted, so that no parameters are shared between architectures',
    'labels come from a random network of the same space',
  ],
})
