import { cartPole, evaluateAgent } from 'agoge'
import { createVectorEnvironment, cmaEs, cmaEsPresets, learnUntil } from 'agoge/classic'
import { definePaper } from '../runner/paper.ts'
import { gaussianProcess, average } from 'agoge/statistics'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'

/** The contexts: poles with half lengths from 0.1 m to 5 m, evenly spaced in the logarithm. */
const contexts = Array.from({ length: 21 }, (_, k) => 0.1 * 50 ** (k / 20))
const indices = contexts.map((_, k) => k)
const middle = 10

/** Trains a linear policy in some contexts in turn; returns its returns in all contexts [contexts]. */
async function train({ seed, budget }: ArmRun, sources: number[], share: number): Promise<number[]> {
  const { numEnvs, ...config } = cmaEsPresets.linear
  const steps = share * budget.steps
  const environment = createVectorEnvironment(cartPole, {
    numEnvs,
    seed: 1000 * seed + sources[0],
    contextFor: (_, episode) => ({ poleHalfLength: contexts[sources[episode % sources.length]] }),
  })
  environment.reset()
  const agent = await cmaEs(config)(environment, { seed: 1000 * seed + sources[0], totalSteps: steps })
  await learnUntil(environment, agent, { steps })
  const contextFor = (episode: number) => ({ poleHalfLength: contexts[episode % contexts.length] })
  const { returns } = await evaluateAgent(agent, cartPole, {
    episodes: 5 * contexts.length,
    seed,
    contextFor,
  })
  return indices.map((k) => average([0, 1, 2, 3, 4].map((round) => returns[k + round * contexts.length])))
}

const best = (trained: number[][]): number[] =>
  indices.map((k) => Math.max(0, ...trained.map((returns) => returns[k])))

/** Trains in source contexts as `choose` selects them. The score is the best policy's return in each context, averaged. */
async function transfer(
  run: ArmRun,
  choose: (sources: number[], trained: number[][]) => number,
): Promise<ArmResult> {
  const sources: number[] = []
  const trained: number[][] = []
  while (sources.length < run.budget.sources) {
    const source = choose(sources, trained)
    sources.push(source)
    trained.push(await train(run, [source], 1))
  }
  const own = average(trained.map((returns, n) => returns[sources[n]]))
  const elsewhere = average(trained.map((returns) => average(returns)))
  const spread = Math.max(...sources) - Math.min(...sources)
  // How well the sources were learned, and what is lost by transfer.
  return { score: average(best(trained)), measures: { own, lost: own - elsewhere, spread } }
}

/**
 * The source with the largest expected improvement. A Gaussian process predicts the training performance of a context,
 * with its uncertainty added, and the loss of transfer grows with the distance as observed so far.
 */
function mostPromising(sources: number[], trained: number[][]): number {
  if (sources.length === 0) return middle
  const own = trained.map((returns, n) => returns[sources[n]])
  const losses = trained.map((returns, n) => {
    const far = indices.filter((k) => k !== sources[n])
    return average(far.map((k) => Math.max(0, own[n] - returns[k]) / Math.abs(k - sources[n])))
  })
  const gradient = average(losses)
  const points = sources.map((source) => [source])
  const believe = gaussianProcess(points, own, { length: 5, deviation: 100, noise: 10 })
  const now = best(trained)
  const gains = indices.map((k) => {
    const belief = believe([k])
    const hoped = Math.min(500, belief.mean + belief.deviation)
    return average(
      indices.map((target) => Math.max(0, hoped - gradient * Math.abs(k - target) - now[target])),
    )
  })
  return gains.indexOf(Math.max(...gains))
}

export default definePaper({
  id: 'mbtl',
  title: 'Model-Based Transfer Learning for Contextual Reinforcement Learning',
  theme: 'contextual',
  claim:
    'Choosing the tasks to train on by a model of training and of what transfer loses with the distance gives more over a range of tasks than choosing by chance, than even distances, and than one policy trained on all.',
  arms: {
    'model-based': (run) => transfer(run, mostPromising),
    random: (run) => {
      const order = createRandom('order', run.seed).shuffle(indices)
      return transfer(run, (sources) => order[sources.length])
    },
    even: (run) =>
      transfer(run, (sources) =>
        Math.round(((sources.length + 0.5) / run.budget.sources) * contexts.length - 0.5),
      ),
    single: (run) => transfer({ ...run, budget: { ...run.budget, sources: 1 } }, () => middle),
    'multi-task': async (run) => average(await train(run, indices, run.budget.sources)),
  },
  metric: 'return in CartPole, mean over poles of 21 lengths, with the best of four policies for each',
  budget: { steps: 10_000, sources: 4 },
  quick: { steps: 100, sources: 2 },
  pairing: 'seed',
  effect: { better: 'model-based', than: ['random', 'even', 'multi-task'], atLeast: 10 },
  checks: [
    { about: 'transfer loses', arm: ['model-based', 'random'], of: 'lost', atLeast: 20 },
    { about: 'the sources are learned', arm: 'even', of: 'own', atLeast: 100 },
    { about: 'the model chooses different sources', arm: 'model-based', of: 'spread', atLeast: 3 },
  ],
  control: { positive: { better: 'even', than: 'single', atLeast: 20 }, same: 'random' },
  simplifications: [
    'linear policies by CMA-ES stand for networks by PPO',
    'CartPole stands for control, traffic and crops',
  ],
})
