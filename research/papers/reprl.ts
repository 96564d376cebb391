import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { batch, dot, exactReturn, grid } from '../testbeds/policy-grid/policy-grid.ts'
import { each } from '../testbeds/each.ts'
import { playEpisode, posterior, representation, size } from '../testbeds/policy-grid/policy-grid.ts'

interface Method {
  /** What the returns are regressed on; `none` runs the first candidates, as an evolution strategy does. */
  on: 'representation' | 'weights' | 'none'
  spread: number
  rate: number
}

async function search({ seed, budget }: ArmRun, { on, spread, rate }: Method): Promise<ArmResult> {
  const map = grid(seed)
  const [random, shared] = [createRandom('search', seed), createRandom('start', seed)]
  const learned = on === 'representation' ? await representation(seed) : undefined
  const centre = Float32Array.from({ length: size }, () => 0.1 * shared.normal())
  const played: [Float32Array, number][] = []
  const [scores, gains]: number[][] = [[], []]
  for (let round = 0; round < budget.rounds; round++) {
    const candidates = each(64).map(() => centre.map((value) => value + 0.5 * random.normal()))
    let picked = candidates.slice(0, 8)
    if (on !== 'none' && played.length >= batch) {
      const embed = on === 'weights' ? (theta: Float32Array) => [1, ...theta] : learned!.of
      const w = posterior(
        played.map(([theta]) => embed(theta)),
        played.map(([, total]) => total),
        random,
        spread,
      )
      const value = candidates.map((theta) => dot(embed(theta), w))
      const order = each(64)
        .sort((a, b) => value[b] - value[a])
        .slice(0, 8)
      picked = order.map((k) => candidates[k])
    }
    const totals = picked.map((theta) => playEpisode(map, theta, random))
    picked.forEach((theta, k) => played.push([theta, totals[k]]))
    const middle = average(totals)
    const deviation = Math.sqrt(average(totals.map((total) => (total - middle) ** 2))) || 1
    const old = centre.slice()
    picked.forEach((theta, k) =>
      centre.forEach(
        (_, i) => (centre[i] += (rate * (totals[k] - middle) * (theta[i] - old[i])) / deviation / 4),
      ),
    )
    if (learned !== undefined) for (let update = 0; update < 4; update++) await learned.train(played, random)
    if (round % 5 < 4) continue
    const exact = (thetas: Float32Array[]) => average(thetas.map((theta) => exactReturn(map, theta)))
    gains.push(exact(picked) - exact(candidates.slice(0, 8)))
    scores.push(exactReturn(map, centre))
  }
  await learned?.dispose()
  return { score: average(scores), measures: { gain: average(gains) } }
}

export default definePaper({
  id: 'reprl',
  title: 'Representation-Driven Reinforcement Learning',
  theme: 'control',
  claim:
    'An evolution strategy that chooses which policies to run by Thompson sampling, linear in a learned representation of policies, finds better policies than one that runs random ones, and than Thompson sampling linear in the weights.',
  arms: {
    representation: (run) => search(run, { on: 'representation', spread: 0.1, rate: 1 }),
    'evolution-strategy': (run) => search(run, { on: 'none', spread: 0, rate: 1 }),
    weights: (run) => search(run, { on: 'weights', spread: 0.3, rate: 1 }),
    unchanged: (run) => search(run, { on: 'none', spread: 0, rate: 0 }),
  },
  metric: 'exact return of the central policy, mean over a search of 320 episodes',
  pairing: 'seed',
  effect: { better: 'representation', than: ['evolution-strategy', 'weights'], atLeast: 1 },
  checks: [
    {
      about: 'the policies that are run are better than random ones',
      arm: 'representation',
      of: 'gain',
      atLeast: 0.05,
    },
    {
      about: 'the evolution strategy does not choose',
      arm: 'evolution-strategy',
      of: 'gain',
      atLeast: 0,
      atMost: 0,
    },
  ],
  control: { positive: { better: 'evolution-strategy', than: 'unchanged', atLeast: 1 } },
  budget: { rounds: 40 },
  quick: { rounds: 5 },
  simplifications: [
    'policies linear in two coordinates on a grid with a near small reward and a far large one',
    'the representation is the hidden layer of a network that learns returns; the paper learns a variational encoder',
    'the evolutionary variant alone, without the one of policy gradients',
    'rates of 0.3, 1 and 2 and spreads of 0.1, 0.3 and 1 were compared',
  ],
})
