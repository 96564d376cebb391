import type { Random, RandomState } from '../../../engine/random/index.ts'
import type { EvolutionStrategy } from './openai-es.ts'

/**
 * Eigenvalues [n] and orthonormal eigenvectors [n, n] (as columns) of a symmetric matrix, by cyclic Jacobi
 * rotations (Golub & Van Loan, section 8.5). Does not change the matrix.
 */
export function symmetricEigen(
  matrix: Float64Array,
  n: number,
): { values: Float64Array; vectors: Float64Array } {
  const a = matrix.slice()
  const vectors = new Float64Array(n * n)
  for (let i = 0; i < n; i++) vectors[i * n + i] = 1
  let total = 0
  for (let i = 0; i < n * n; i++) total += a[i] * a[i]
  for (let sweep = 0; sweep < 30; sweep++) {
    let off = 0
    for (let p = 0; p < n; p++) for (let q = 0; q < p; q++) off += a[p * n + q] ** 2
    if (off <= 1e-24 * total) break
    for (let p = 0; p < n - 1; p++) for (let q = p + 1; q < n; q++) rotate(a, vectors, n, p, q)
  }
  return { values: Float64Array.from({ length: n }, (_, i) => a[i * n + i]), vectors }
}

/** One rotation, which makes the element (p, q) zero. */
function rotate(a: Float64Array, vectors: Float64Array, n: number, p: number, q: number): void {
  const apq = a[p * n + q]
  if (apq === 0) return
  const theta = (a[q * n + q] - a[p * n + p]) / (2 * apq)
  const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1))
  const c = 1 / Math.sqrt(t * t + 1)
  const s = t * c
  for (let k = 0; k < n; k++) {
    const left = a[k * n + p]
    const right = a[k * n + q]
    a[k * n + p] = c * left - s * right
    a[k * n + q] = s * left + c * right
    const v = vectors[k * n + p]
    const w = vectors[k * n + q]
    vectors[k * n + p] = c * v - s * w
    vectors[k * n + q] = s * v + c * w
  }
  for (let k = 0; k < n; k++) {
    const left = a[p * n + k]
    const right = a[q * n + k]
    a[p * n + k] = c * left - s * right
    a[q * n + k] = s * left + c * right
  }
}

interface CmaEsOptions {
  /** Initial standard deviation of every parameter. */
  sigma: number
  /** Candidates of a generation. The usual number is 4 + 3 ln(n). */
  population: number
}

/** The distribution that candidates are drawn from, and the paths of its mean. */
interface Search {
  readonly mean: Float64Array
  readonly covariance: Float64Array
  readonly path: Float64Array
  readonly sigmaPath: Float64Array
  sigma: number
  generation: number
  /** Steps of this generation from the mean, in units of sigma: [population, n]. */
  readonly steps: Float64Array
}

type CmaEsState = Search & { random: RandomState }

/**
 * Covariance matrix adaptation (Hansen 2016, "The CMA Evolution Strategy: A Tutorial", arXiv:1604.00772) with its
 * default constants and positive weights. Suits small parameter vectors: each generation costs n^3.
 */
export function cmaEsStrategy(
  start: Float32Array,
  { sigma, population }: CmaEsOptions,
  random: Random,
): EvolutionStrategy {
  const n = start.length
  const constants = constantsOf(n, population)
  const search: Search = {
    mean: Float64Array.from(start),
    covariance: new Float64Array(n * n),
    path: new Float64Array(n),
    sigmaPath: new Float64Array(n),
    sigma,
    generation: 0,
    steps: new Float64Array(population * n),
  }
  const { mean, covariance, steps } = search
  for (let i = 0; i < n; i++) covariance[i * n + i] = 1
  let basis = symmetricEigen(covariance, n)
  return {
    population,
    mean: () => Float32Array.from(mean),
    ask(candidates) {
      for (let c = 0; c < population; c++) {
        const z = Float64Array.from({ length: n }, () => random.normal())
        steps.set(transform(basis, z, 1), c * n)
        for (let i = 0; i < n; i++) candidates[c * n + i] = mean[i] + search.sigma * steps[c * n + i]
      }
    },
    tell(fitness) {
      search.generation++
      const order = Array.from(fitness.keys()).sort((a, b) => fitness[b] - fitness[a])
      const chosen = order.slice(0, constants.parents)
      const step = moveMean(search, constants, chosen)
      const { length, stalled } = movePaths(search, constants, step, transform(basis, step, -1))
      adaptCovariance(search, constants, chosen, stalled)
      const { sigmaRate, damping, normalLength } = constants
      search.sigma *= Math.exp((sigmaRate / damping) * (length / normalLength - 1))
      basis = symmetricEigen(covariance, n)
      return { sigma: search.sigma }
    },
    state: (): CmaEsState => structuredClone({ ...search, random: random.state() }),
    restore(saved) {
      const state = saved as CmaEsState
      for (const name of ['mean', 'covariance', 'path', 'sigmaPath', 'steps'] as const)
        search[name].set(state[name])
      search.sigma = state.sigma
      search.generation = state.generation
      random.restore(state.random)
      basis = symmetricEigen(covariance, n)
    },
  }
}

type Constants = ReturnType<typeof constantsOf>

/** The default constants of the tutorial (table 1), for n parameters. */
function constantsOf(n: number, population: number) {
  const parents = Math.floor(population / 2)
  const raw = Float64Array.from(
    { length: parents },
    (_, i) => Math.log(population / 2 + 0.5) - Math.log(i + 1),
  )
  const rawSum = raw.reduce((a, b) => a + b, 0)
  const weights = raw.map((w) => w / rawSum)
  const effective = 1 / weights.reduce((sum, w) => sum + w * w, 0)
  const sigmaRate = (effective + 2) / (n + effective + 5)
  const rankOne = 2 / ((n + 1.3) ** 2 + effective)
  return {
    parents,
    weights,
    /** Effective number of parents, given the weights. */
    effective,
    sigmaRate,
    damping: 1 + 2 * Math.max(0, Math.sqrt((effective - 1) / (n + 1)) - 1) + sigmaRate,
    pathRate: (4 + effective / n) / (n + 4 + (2 * effective) / n),
    rankOne,
    rankMany: Math.min(1 - rankOne, (2 * (effective - 2 + 1 / effective)) / ((n + 2) ** 2 + effective)),
    /** Expected length of n standard normal numbers. */
    normalLength: Math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n)),
  }
}

/** y = B D^power B^T z, where D is the deviations along the axes B. */
function transform(
  { values, vectors }: ReturnType<typeof symmetricEigen>,
  z: Float64Array,
  power: 1 | -1,
): Float64Array {
  const n = z.length
  const y = new Float64Array(n)
  for (let a = 0; a < n; a++) {
    let dot = 0
    for (let i = 0; i < n; i++) dot += vectors[i * n + a] * z[i]
    const length = Math.sqrt(Math.max(values[a], 1e-20))
    dot *= power === 1 ? length : 1 / length
    for (let i = 0; i < n; i++) y[i] += vectors[i * n + a] * dot
  }
  return y
}

/** Moves the mean by the weighted steps of the chosen candidates, best first. Returns the step in units of sigma. */
function moveMean({ mean, steps, sigma }: Search, { weights }: Constants, chosen: readonly number[]) {
  const n = mean.length
  const step = new Float64Array(n)
  chosen.forEach((c, rank) => {
    for (let i = 0; i < n; i++) step[i] += weights[rank] * steps[c * n + i]
  })
  for (let i = 0; i < n; i++) mean[i] += sigma * step[i]
  return step
}

/**
 * Adds the step of the mean to both paths. Returns the length of sigma's path, and whether it is too long to adapt
 * the covariance from.
 */
function movePaths(
  { path, sigmaPath, generation }: Search,
  { effective, sigmaRate, pathRate, normalLength }: Constants,
  step: Float64Array,
  whitened: Float64Array,
): { length: number; stalled: boolean } {
  const n = step.length
  let squared = 0
  for (let i = 0; i < n; i++) {
    sigmaPath[i] =
      (1 - sigmaRate) * sigmaPath[i] + Math.sqrt(sigmaRate * (2 - sigmaRate) * effective) * whitened[i]
    squared += sigmaPath[i] ** 2
  }
  const length = Math.sqrt(squared)
  // A long path means that sigma is too small. The covariance must not grow from it as well.
  const stalled =
    length / Math.sqrt(1 - (1 - sigmaRate) ** (2 * generation)) >= (1.4 + 2 / (n + 1)) * normalLength
  for (let i = 0; i < n; i++)
    path[i] =
      (1 - pathRate) * path[i] + (stalled ? 0 : Math.sqrt(pathRate * (2 - pathRate) * effective) * step[i])
  return { length, stalled }
}

/** The rank-one update from the path and the rank-many update from the steps of the chosen candidates. */
function adaptCovariance(
  { mean, covariance, path, steps }: Search,
  { parents, weights, pathRate, rankOne, rankMany }: Constants,
  chosen: readonly number[],
  stalled: boolean,
): void {
  const n = mean.length
  const keep = 1 - rankOne - rankMany + (stalled ? rankOne * pathRate * (2 - pathRate) : 0)
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let value = keep * covariance[i * n + j] + rankOne * path[i] * path[j]
      for (let rank = 0; rank < parents; rank++) {
        const at = chosen[rank] * n
        value += rankMany * weights[rank] * steps[at + i] * steps[at + j]
      }
      covariance[i * n + j] = value
      covariance[j * n + i] = value
    }
  }
}
