import { createRandom } from 'agoge/engine'
import { average, rankCorrelation } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { dot, encoder, end, image, maze } from '../testbeds/prize-maze/prize-maze.ts'
import { each } from '../testbeds/each.ts'
import { pixels, rewards, segments } from '../testbeds/prize-maze/prize-maze.ts'

/** Of each pixel: about half of the deviation between places. */
const noise = 0.1
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
/** How policies are described. `none`: they are drawn at random. */
type Space = 'learned' | 'given' | 'images' | 'projection' | 'none'
interface Settings {
  /** Deviation of mutations of the search, or of random policies. */
  spread: number
  /** Deviation of the mutations of emitters. Default: no emitters. */
  climb?: number
  /** Dimensions of the learned space, or of the projection. */
  dims?: number
}

/** How far distances of descriptions order those of places: rank correlation over pairs. */
const alignment = (found: readonly Found[]): number =>
  rankCorrelation(
    found.slice(1).map((one, k) => distance(one.at, found[k].at)),
    found.slice(1).map((one, k) => distance(one.place, found[k].place)),
  )

function search({ seed, budget }: ArmRun, space: Space, { spread, climb, dims = 2 }: Settings): ArmResult {
  const map = maze(seed)
  const random = createRandom('search', seed)
  const best = [0, 0, 0]
  const count = { left: budget.evaluations, climbs: 0 }
  const projection = each(dims).map(() => each(pixels ** 2).map(() => random.normal()))
  let describe = (found: { image: number[]; place: [number, number] }): number[] =>
    space === 'given'
      ? found.place
      : space === 'images'
        ? found.image
        : projection.map((row) => dot(row, found.image))
  function evaluate(policy: number[]): Found {
    const place = end(map, policy)
    const shown = image(map, place).map((v) => v + noise * random.normal())
    const gained = rewards(map, place)
    // What a last generation evaluates beyond the budget does not count.
    if (count.left-- > 0) gained.forEach((reward, k) => (best[k] = Math.max(best[k], reward)))
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
  const fresh = (deviation: number): Found =>
    evaluate(each(2 * segments).map(() => deviation * random.normal()))
  let population = each(20).map(() => fresh(1))
  const archive: Found[] = []
  const rewarded: Found[] = []
  for (let generation = 0; count.left > 0; generation++) {
    const offspring =
      space === 'none'
        ? each(40).map(() => fresh(spread))
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
    if (climb === undefined) continue
    // Emitters climb around the rewarded policies that have waited longest, two in each generation.
    for (const found of rewarded.splice(0, 2)) {
      let top = found
      count.climbs++
      for (let round = 0; round < 5 && count.left > 0; round++)
        top = [top, ...each(6).map(() => mutated(top, climb))].reduce((a, b) => (b.reward > a.reward ? b : a))
    }
  }
  return {
    score: average(best),
    measures: {
      found: average(best.map((v) => Number(v > 0))),
      climbs: count.climbs,
      aligned: space === 'none' ? 0 : alignment(archive),
    },
  }
}
/** Deviations of mutations (0.5 to 8) for each arm, and 2 to 32 dimensions, on seeds 201 to 240. */
const tuned = { stax: { spread: 2, climb: 0.1, dims: 16 }, far: { spread: 4, climb: 0.1 } }

export default definePaper({
  id: 'stax',
  title: 'Discovering and Exploiting Sparse Rewards in a Learned Behavior Space',
  theme: 'control',
  claim:
    'Novelty search in a behaviour space that is learned from images as it goes, with emitters that climb around what is rewarded, finds more sparse reward than without emitters, than random policies with emitters, and than novelty of the images themselves.',
  arms: {
    stax: (run) => search(run, 'learned', tuned.stax),
    'novelty-only': (run) => search(run, 'learned', { spread: 2, dims: 16 }),
    'random-policies': (run) => search(run, 'none', tuned.far),
    images: (run) => search(run, 'images', tuned.far),
    // Not rivals: with the place that the others do not know, in random directions of the images, and without any search.
    'given-place': (run) => search(run, 'given', tuned.far),
    projection: (run) => search(run, 'projection', { ...tuned.stax, dims: 8 }),
    'random-only': (run) => search(run, 'none', { spread: 2 }),
  },
  metric: 'reward of the best policy found for each of three prizes in a maze, mean, of at most 1',
  pairing: 'seed',
  effect: { better: 'stax', than: ['novelty-only', 'random-policies', 'images'], atLeast: 0.1 },
  checks: [
    { about: 'emitters climb', arm: ['stax', 'images', 'random-policies'], of: 'climbs', atLeast: 5 },
    { about: 'they do not', arm: 'novelty-only', of: 'climbs', atMost: 0 },
    { about: 'the learned space orders places', arm: 'stax', of: 'aligned', atLeast: 0.4 },
    { about: 'not all prizes are found by chance', arm: 'random-policies', of: 'found', atMost: 0.9 },
  ],
  control: { positive: { better: 'given-place', than: 'random-only', atLeast: 0.15 }, same: 'images' },
  budget: { evaluations: 2000 },
  quick: { evaluations: 100 },
  simplifications: [
    'policies are 12 moves without observations; images have 64 pixels, which mix where a policy ends, with noise of half of their deviation',
    'a linear autoencoder (principal components of the archive, renewed every fifth generation) stands for a network; its error of reconstruction is not used as surprise',
    'emitters are elitist evolution strategies of five rounds of six; search and emitters take turns in each generation, and emitters begin with the policies that were found first',
    'novelty of images and random policies with emitters are rivals that the paper does not have',
    'deviations of mutations of 0.5, 1, 2 and 4 (1 to 8 for random policies), 2 to 32 dimensions of the learned space and three deviations of emitters, which matter little, were compared; the noise was set before any of these',
  ],
})
