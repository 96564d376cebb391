import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { benchmark, handMade, homogeneity, options } from '../testbeds/graph-networks/graph-networks.ts'
import type { Architecture, Readout } from '../testbeds/graph-networks/graph-networks.ts'
import { each } from '../testbeds/each.ts'

interface Trained {
  architecture: Architecture
  validation: number
}
/** Proposes an architecture from what was trained last and the best so far, and learns from the validation of a trained one. */
interface Search {
  propose: (random: Random, best?: Trained) => Architecture
  learn?: (trained: Trained, best?: Trained) => void
  /** Mean entropy of the options of a component, as a share of that at first. */
  entropy?: () => number
}
const sum = (values: number[]): number => values.reduce((a, b) => a + b)
const uniform = (random: Random): Architecture => options.map((count) => random.int(count))
const better = (a: Trained, b: Trained): Trained => (b.validation > a.validation ? b : a)
const changes = (a: Architecture, b: Architecture): number[] =>
  each(options.length).filter((k) => a[k] !== b[k])

/** Probabilities of the options of each component, learned by REINFORCE. */
function controller(rate: number) {
  const logits = options.map((count) => each(count).map(() => 0))
  const chances = (component: number): number[] => {
    const weights = logits[component].map((v) => Math.exp(v))
    return weights.map((w) => w / sum(weights))
  }
  const entropyOf = (component: number): number =>
    -sum(chances(component).map((p) => p * Math.log(Math.max(p, 1e-12))))
  return {
    sample: (component: number, random: Random) => random.weighted(chances(component)),
    entropyOf,
    entropy: () => average(options.map((count, k) => entropyOf(k) / Math.log(count))),
    learn: (component: number, option: number, advantage: number) => {
      const p = chances(component)
      p.forEach((chance, k) => (logits[component][k] += rate * advantage * (Number(k === option) - chance)))
    },
  }
}
/** Changes one component of the best architecture, more often one of which the controller is unsure. */
function smallSteps(rate: number): Search {
  const { sample, entropyOf, entropy, learn } = controller(rate)
  return {
    propose: (random, best) => {
      if (best === undefined) return uniform(random)
      const component = random.weighted(options.map((_, k) => entropyOf(k)))
      return best.architecture.with(component, sample(component, random))
    },
    learn: ({ architecture, validation }, best = { architecture, validation }) =>
      changes(best.architecture, architecture).forEach((k) =>
        learn(k, architecture[k], validation - best.validation),
      ),
    entropy,
  }
}
/** Samples all components at once, and learns against a moving mean. */
function wholeArchitectures(rate: number): Search {
  const { sample, entropy, learn } = controller(rate)
  let mean: number | undefined
  return {
    propose: (random) => options.map((_, component) => sample(component, random)),
    learn: ({ architecture, validation }) => {
      const advantage = validation - (mean ?? validation)
      architecture.forEach((option, component) => learn(component, option, advantage))
      mean = (mean ?? validation) + 0.05 * advantage
    },
    entropy,
  }
}
/** Changes a random component of the best of the last ones, after as many random ones. */
function evolution(size: number): Search {
  const recent: Trained[] = []
  return {
    propose: (random) => {
      if (recent.length < size) return uniform(random)
      const k = random.int(options.length)
      return recent.reduce(better).architecture.with(k, random.int(options[k]))
    },
    learn: (trained) => void (recent.push(trained) > size && recent.shift()),
  }
}
const randomSearch: Search = { propose: uniform }

/** Trains as many different architectures with every search: one that was trained before is drawn again. */
function run({ seed, budget }: ArmRun, search: Search, shares = false): ArmResult {
  const random = createRandom('search', seed)
  const { train, test } = benchmark(seed)
  const known = new Map<string, number>()
  const readouts = new Map<string, Readout>()
  const seen = { shared: 0, changed: 0, redrawn: 0 }
  let best: Trained | undefined
  while (known.size < budget.trainings) {
    let architecture = search.propose(random, best)
    for (let tries = 1; known.has(architecture.join()); tries++, seen.redrawn++)
      architecture = tries < 50 ? search.propose(random, best) : uniform(random)
    const start = shares ? readouts.get(homogeneity(architecture)) : undefined
    if (start !== undefined) seen.shared++
    const { validation, readout } = train(architecture, budget.steps, start)
    readouts.set(homogeneity(architecture), readout)
    known.set(architecture.join(), validation)
    search.learn?.({ architecture, validation }, best)
    if (best !== undefined) seen.changed += changes(best.architecture, architecture).length
    best = better(best ?? { architecture, validation }, { architecture, validation })
  }
  const validations = [...known.values()]
  const [half, later] = [Math.ceil(known.size / 2), Math.max(1, known.size - 1)]
  return {
    score: best === undefined ? 0.5 : test(best.architecture, budget.steps),
    measures: {
      changed: seen.changed / later,
      shared: seen.shared / later,
      redrawn: seen.redrawn / later,
      entropy: search.entropy?.() ?? 1,
      gain: average(validations.slice(half)) - average(validations.slice(0, half)),
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
    agnn: (input) => run(input, smallSteps(10)),
    'whole-architectures': (input) => run(input, wholeArchitectures(30)),
    random: (input) => run(input, randomSearch),
    evolution: (input) => run(input, evolution(12)),
    // Parameters pass between homogeneous architectures only.
    'agnn-sharing': (input) => run(input, smallSteps(10), true),
    // Changes one component as well, but learns nothing.
    'unlearned-steps': (input) => run(input, smallSteps(0)),
    'hand-made': (input) =>
      run({ ...input, budget: { ...input.budget, trainings: 1 } }, { propose: () => handMade }),
    'first-drawn': (input) => run({ ...input, budget: { ...input.budget, trainings: 1 } }, randomSearch),
  },
  metric:
    'accuracy on 400 test graphs of the network with the best validation accuracy, trained again from zero',
  pairing: 'seed',
  effect: { better: 'agnn', than: ['whole-architectures', 'random', 'evolution'], atLeast: 0.02 },
  checks: [
    {
      about: 'little of the best changes',
      arm: ['agnn', 'agnn-sharing'],
      of: 'changed',
      atLeast: 1,
      atMost: 2,
    },
    { about: 'its rival changes much', arm: 'whole-architectures', of: 'changed', atLeast: 2.7 },
    { about: 'controllers learn', arm: ['agnn', 'whole-architectures'], of: 'entropy', atMost: 0.95 },
    { about: 'it stays unsure of some components', arm: 'agnn', of: 'entropy', atLeast: 0.1 },
    { about: 'later networks are better than earlier ones', arm: 'agnn', of: 'gain', atLeast: 0.01 },
    { about: 'parameters are shared', arm: 'agnn-sharing', of: 'shared', atLeast: 0.3 },
  ],
  control: { positive: { better: 'random', than: 'first-drawn', atLeast: 0.05 }, same: 'random' },
  budget: { trainings: 30, steps: 30 },
  quick: { trainings: 3, steps: 5 },
  simplifications: [
    'hidden layers have fixed random weights and only the readout is trained, from zero with 30 steps of gradient descent; what homogeneous architectures share is that readout',
    'sharing is an arm of its own that the claim does not name, since it saves training in the paper and the number of trainings is fixed here; sharing among all architectures is left out',
    'labels come from a network of the same space with the same fixed weights, so that an architecture can be right about nearly all graphs',
    'controllers are tables, which do not see the other components, in place of recurrent networks; one component is changed at a time, drawn by its entropy',
    'every search trains 30 different architectures by construction: one that was trained before is drawn again, and after 50 draws it is uniform',
    'rates of 1 to 30 of the claimed controller, 3 to 100 of its rival, and populations of 4 to 16 were compared by the best validation accuracy on seeds 321 to 332, four values each; the best were 10, 30 and 12',
  ],
})
