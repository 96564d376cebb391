import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { dot, encoder, end, image, maze } from '../testbeds/prize-maze/prize-maze.ts'
import { each } from '../testbeds/each.ts'
import { pixels, rewards, segments } from '../testbeds/prize-maze/prize-maze.ts'

const distance = (a: readonly number[], b: readonly number[]): number =>
  Math.sqrt(a.reduce((sum, v, k) => sum + (v - b[k]) ** 2, 0))

interface Found {
  policy: number[]
  image: number[]
  place: [number, number]
  reward: number
  /** In the behaviour space. */
  at: number[]
}
/** `none`: policies are drawn at random. */
type Space = 'learned' | 'given' | 'pixels' | 'projection' | 'none'

function search(
  { seed, budget }: ArmRun,
  space: Space,
  { emitters = true, dims = 2, spread = 0.5 } = {},
): ArmResult {
  const map = maze(seed)
  const random = createRandom('search', seed)
  const best = [0, 0, 0]
  const count = { left: budget.evaluations, climbs: 0 }
  const projection = each(2).map(() => each(pixels ** 2).map(() => random.normal()))
  let describe = (found: { image: number[]; place: [number, number] }): number[] =>
    space === 'given'
      ? found.place
      : space === 'pixels'
        ? found.image
        : projection.map((row) => dot(row, found.image))
  function evaluate(policy: number[]): Found {
    count.left--
    const place = end(map, policy)
    const shown = image(map, place)
    const gained = rewards(map, place)
    gained.forEach((reward, k) => (best[k] = Math.max(best[k], reward)))
    return { policy, place, image: shown, reward: Math.max(...gained), at: describe({ image: shown, place }) }
  }
  const mutated = ({ policy }: Found, by: number): Found =>
    evaluate(policy.map((v) => v + by * random.normal()))
  const novelty = (at: number[], others: Found[]): number =>
    average(
      others
        .map((other) => distance(at, other.at))
        .toSorted((a, b) => a - b)
        .slice(1, 6),
    )
  const fresh = (): Found => evaluate(each(2 * segments).map(() => random.normal()))
  let population = each(20).map(fresh)
  const archive: Found[] = []
  const rewarded: Found[] = []
  for (let generation = 0; count.left > 0; generation++) {
    const offspring =
      space === 'none'
        ? each(40).map(fresh)
        : [...population, ...population].map((parent) => mutated(parent, spread))
    const all = [...population, ...offspring]
    archive.push(...random.shuffle(offspring).slice(0, 5))
    const others = [...archive, ...all]
    if (space === 'learned' && generation % 5 === 0) {
      const encode = encoder(
        random
          .shuffle(others)
          .slice(0, 100)
          .map((found) => found.image),
        dims,
      )
      describe = (found) => encode(found.image)
      for (const found of [...others, ...rewarded]) found.at = describe(found)
    }
    const values = new Map(all.map((found) => [found, space === 'none' ? 0 : novelty(found.at, others)]))
    population = all.toSorted((a, b) => values.get(b)! - values.get(a)!).slice(0, 20)
    rewarded.push(...offspring.filter(({ reward }) => reward > 0))
    if (!emitters) continue
    // Emitters climb around the rewarded policy that lies farthest from those climbed before.
    for (const found of rewarded.splice(0, 2)) {
      let top = found
      count.climbs++
      for (let round = 0; round < 5 && count.left > 0; round++)
        top = [top, ...each(6).map(() => mutated(top, 0.1))].reduce((a, b) => (b.reward > a.reward ? b : a))
    }
  }
  return {
    score: average(best),
    measures: { found: average(best.map((v) => Number(v > 0))), climbs: count.climbs },
  }
}
/** Spread of mutations for all, and dimensions of the learned space, of spreads of 0.3, 0.5 and 1 and of 2 and 8 dimensions. */
const tuned = { spread: 1, dims: 8 }

export default definePaper({
  id: 'stax',
  title: 'Discovering and Exploiting Sparse Rewards in a Learned Behavior Space',
  theme: 'control',
  claim:
    'Novelty search in a behaviour space that is learned from images as it goes, with emitters that climb around what is rewarded, finds more sparse reward than without emitters, than random policies with emitters, and than novelty of the images themselves.',
  arms: {
    stax: (run) => search(run, 'learned', tuned),
    'novelty-only': (run) => search(run, 'learned', { ...tuned, emitters: false }),
    'random-policies': (run) => search(run, 'none', tuned),
    images: (run) => search(run, 'pixels', tuned),
    // With the place that the others do not know, and in random directions of the images.
    'given-place': (run) => search(run, 'given', tuned),
    projection: (run) => search(run, 'projection', tuned),
  },
  metric: 'reward of the best policy found for each of three prizes in a maze, mean, of at most 1',
  pairing: 'seed',
  effect: { better: 'stax', than: ['novelty-only', 'random-policies', 'images'], atLeast: 0.05 },
  checks: [
    { about: 'emitters climb', arm: ['stax', 'images'], of: 'climbs', atLeast: 5 },
    { about: 'they do not', arm: 'novelty-only', of: 'climbs', atMost: 0 },
    { about: 'not all prizes are found by chance', arm: 'random-policies', of: 'found', atMost: 0.9 },
  ],
  control: { positive: { better: 'given-place', than: 'novelty-only', atLeast: 0.05 }, same: 'novelty-only' },
  budget: { evaluations: 2000 },
  quick: { evaluations: 100 },
  simplifications: [
    'policies are 12 moves without observations; images have 64 pixels, which mix where a policy ends',
    'a linear autoencoder (principal components of the archive, renewed every fifth generation) stands for a network',
    'emitters are elitist evolution strategies of five rounds',
  ],
})
