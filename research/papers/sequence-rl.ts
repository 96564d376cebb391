import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { cost, dot, dynamics, exactCost, gamma } from '../testbeds/sequences/sequences.ts'
import { each } from '../testbeds/each.ts'
import { iterate, longest, noise, regress, unroll } from '../testbeds/sequences/sequences.ts'
import type { Step } from '../testbeds/sequences/sequences.ts'

/** Episodes of 16 steps with random forces, from random states. */
function collect(seed: number, episodes: number, spread = noise): Step[][] {
  const random = createRandom('collect', seed)
  return each(episodes).map(() => {
    let x = [random.normal(), random.normal()]
    return each(16).map(() => {
      const u = random.normal()
      const next = dynamics.map((row) => dot(row, [...x, u]) + spread * random.normal())
      const step = { x, u: [u], cost: cost(x, u), next }
      x = next
      return step
    })
  })
}

/** Every stretch of eight steps as one step of a sequence of actions. */
const sequences = (episodes: Step[][]): Step[] =>
  episodes.flatMap((steps) =>
    each(steps.length - longest + 1).map((from) => {
      const part = steps.slice(from, from + longest)
      const total = part.reduce((sum, step, k) => sum + gamma ** k * step.cost, 0)
      return { x: part[0].x, u: part.flatMap(({ u }) => u), cost: total, next: part.at(-1)!.next }
    }),
  )

/** Gains of the actions of a sequence on the state where it begins. */
function gainsOf(
  kind: 'recall' | 'repeat' | 'whole' | 'zero',
  episodes: Step[][],
  exact = false,
): number[][] {
  if (kind === 'zero') return each(longest).map(() => [0, 0])
  if (kind === 'whole') return iterate(sequences(episodes), gamma ** longest)
  const steps = episodes.flat()
  const [gain] = iterate(steps, gamma)
  if (kind === 'repeat') return each(longest).map(() => gain)
  const rows = steps.map(({ x, u }) => [...x, ...u])
  const learned = [0, 1].map((i) =>
    regress(
      rows,
      steps.map(({ next }) => next[i]),
    ),
  )
  return unroll(gain, exact ? dynamics : learned)
}

/** Share of the least cost, mean over decisions every 1, 2, 4 and 8 steps: the frequency-averaged score. */
function averaged({ seed, budget }: ArmRun, kind: Parameters<typeof gainsOf>[0]): ArmResult {
  const gains = gainsOf(kind, collect(seed, budget.episodes))
  const least = gainsOf('recall', collect(1, 20, 0), true)
  const share = (every: number): number => exactCost(least, 1) / exactCost(gains, every)
  const varies = Math.abs(gains[7][0] - gains[0][0])
  return { score: average([1, 2, 4, 8].map(share)), measures: { everyStep: share(1), varies } }
}

export default definePaper({
  id: 'sequence-rl',
  title:
    'Overcoming Slow Decision Frequencies in Continuous Control: Model-Based Sequence Reinforcement Learning for Model-Free Control',
  theme: 'control',
  claim:
    'A policy of action sequences, whose states between are filled in by a learned model while it learns, scores better over decision frequencies than a policy whose action is repeated, and than a critic of whole sequences.',
  arms: {
    'temporal-recall': (run) => averaged(run, 'recall'),
    'repeated-action': (run) => averaged(run, 'repeat'),
    'whole-sequences': (run) => averaged(run, 'whole'),
    'no-action': (run) => averaged(run, 'zero'),
  },
  metric:
    'exact cost of a nearly optimal policy of every step over the own one, mean over decisions every 1, 2, 4 and 8 steps',
  pairing: 'seed',
  effect: { better: 'temporal-recall', than: ['repeated-action', 'whole-sequences'], atLeast: 0.1 },
  checks: [
    {
      about: 'with a decision at every step the policy is good',
      arm: ['temporal-recall', 'repeated-action'],
      of: 'everyStep',
      atLeast: 0.6,
    },
    {
      about: 'actions of a sequence differ',
      arm: ['temporal-recall', 'whole-sequences'],
      of: 'varies',
      atLeast: 0.1,
    },
    { about: 'they do not', arm: 'repeated-action', of: 'varies', atMost: 0 },
  ],
  control: { positive: { better: 'repeated-action', than: 'no-action', atLeast: 0.1 } },
  budget: { episodes: 40 },
  quick: { episodes: 10 },
  simplifications: [
    'a linear system with noise, quadratic critics by least-squares policy iteration, and a linear model',
    'the actor is the greedy action of the critic, followed through the model, instead of a trained network',
    'random forces instead of exploration by the actor; one system; no soft actor-critic',
  ],
})
