import { type Estimate, type MeanEstimate, studentQuantile, tooFew } from './statistics.ts'

/** Two yes-or-no judgements of the same thing. Judgements of one group, such as of the trials of one task, are not independent. */
export interface RatedPair {
  group: string
  a: boolean
  b: boolean
}

/** How often each combination occurs; the first letter is what `a` says: y or n. */
export interface AgreementCounts {
  yy: number
  yn: number
  ny: number
  nn: number
}

/** The agreement of two raters. `n` of the estimate is the number of groups. */
export interface Agreement {
  /** Cohen's kappa with a 95% interval. It has no interval with fewer than five groups, or if both raters always say the same one word. */
  kappa: MeanEstimate
  /** Of kappa, over groups; 0 without an interval. */
  standardError: number
  /** The share of pairs that agree. */
  raw: number
  counts: AgreementCounts
  pairs: number
}

/**
 * Cohen's kappa: agreement beyond what two independent raters with the same shares of yes would have. 1 is perfect, 0 is chance.
 *
 * The standard error is the linearised one of Fleiss, Cohen and Everitt, with the pairs of a group summed (so that several trials of a task count as one
 * observation), times sqrt(k / (k - 1)) for k groups. The interval is Student's after adding half an average group to each of the four
 * combinations: without them, perfect agreement in a few pairs would have an interval of width 0. Measured coverage: `agreement.test.ts`.
 *
 * Sources: Cohen, Educational and Psychological Measurement 20 (1960); Fleiss, Cohen & Everitt, Psychological Bulletin 72 (1969),
 * equation 13; the added counts as in Agresti & Coull, The American Statistician 52 (1998).
 *
 * @example cohenKappa([{ group: 'task 1', a: true, b: true }, ...]).kappa // { mean: 0.7, low: 0.55, high: 0.84, n: 100 }
 */
export function cohenKappa(pairs: readonly RatedPair[]): Agreement {
  const byGroup = new Map<string, RatedPair[]>()
  for (const pair of pairs) {
    const group = byGroup.get(pair.group)
    if (group === undefined) byGroup.set(pair.group, [pair])
    else group.push(pair)
  }
  const groups = [...byGroup.values()].map(countsOf)
  const counts = countsOf(pairs)
  const raw = pairs.length === 0 ? 0 : (counts.yy + counts.nn) / pairs.length
  const { kappa: mean, standardError } = estimate(groups)
  const common = { raw, counts, pairs: pairs.length }
  if (mean === null)
    return {
      ...common,
      standardError: 0,
      kappa: {
        mean: 0,
        low: null,
        high: null,
        n: groups.length,
        noInterval: pairs.length === 0 ? 'no kappa: no pairs' : 'no kappa: both always say the same',
      },
    }
  const few = tooFew(mean, groups.length)
  if (few !== null) return { ...common, standardError: 0, kappa: few }
  return { ...common, standardError, kappa: { mean, ...intervalOf(groups, pairs.length) } }
}

function intervalOf(groups: readonly AgreementCounts[], pairs: number): Omit<Estimate, 'mean'> {
  const half = pairs / groups.length / 2
  const added = (['yy', 'yn', 'ny', 'nn'] as const).map((cell) => ({ ...none, [cell]: half }))
  const { kappa, standardError } = estimate([...groups, ...added])
  const width = studentQuantile(0.975, groups.length - 1) * standardError
  // The added counts leave no rater that always says the same.
  const centre = kappa ?? 0
  return { low: Math.max(-1, centre - width), high: Math.min(1, centre + width), n: groups.length }
}

const none: AgreementCounts = { yy: 0, yn: 0, ny: 0, nn: 0 }

function countsOf(pairs: readonly RatedPair[]): AgreementCounts {
  const count = (a: boolean, b: boolean): number =>
    pairs.filter((pair) => pair.a === a && pair.b === b).length
  return { yy: count(true, true), yn: count(true, false), ny: count(false, true), nn: count(false, false) }
}

/** Kappa and its standard error over groups. Null if both raters always say the same word. */
function estimate(groups: readonly AgreementCounts[]): { kappa: number | null; standardError: number } {
  const sum = (cell: keyof AgreementCounts): number =>
    groups.reduce((total, counts) => total + counts[cell], 0)
  const size = sum('yy') + sum('yn') + sum('ny') + sum('nn')
  const [yy, yn, ny, nn] = (['yy', 'yn', 'ny', 'nn'] as const).map((cell) => sum(cell) / size)
  const [a, b] = [yy + yn, yy + ny]
  const observed = yy + nn
  const expected = a * b + (1 - a) * (1 - b)
  if (!(expected < 1)) return { kappa: null, standardError: 0 }
  const kappa = (observed - expected) / (1 - expected)
  // The derivative of kappa by the share of each combination, times (1 - expected).
  const gradient = (agrees: number, ofA: number, ofB: number): number => agrees - (1 - kappa) * (ofA + ofB)
  const gradients = {
    yy: gradient(1, a, b),
    yn: gradient(0, 1 - a, b),
    ny: gradient(0, a, 1 - b),
    nn: gradient(1, 1 - a, 1 - b),
  }
  const total = (counts: AgreementCounts): number =>
    counts.yy * gradients.yy + counts.yn * gradients.yn + counts.ny * gradients.ny + counts.nn * gradients.nn
  const centre = groups.reduce((all, counts) => all + total(counts), 0) / size
  const squares = groups.reduce((all, counts) => {
    const own = counts.yy + counts.yn + counts.ny + counts.nn
    return all + (total(counts) - own * centre) ** 2
  }, 0)
  const k = groups.length
  const variance = k < 2 ? 0 : (squares / (size * (1 - expected)) ** 2) * (k / (k - 1))
  return { kappa, standardError: Math.sqrt(variance) }
}

/**
 * About how many more pairs would show, in four of five studies, on which side of the threshold kappa is, if it is where it seems to be.
 * 0 if the interval shows it. Null if that cannot be said: there is no interval, or kappa is the threshold.
 *
 * Source: the sample size of a one-sample z-test, (z_0.975 + z_0.8)^2 s^2 / d^2.
 */
export function pairsNeeded({ kappa, standardError, pairs }: Agreement, threshold: number): number | null {
  if (kappa.low === null) return null
  if (kappa.low > threshold || kappa.high < threshold) return 0
  const distance = Math.abs(kappa.mean - threshold)
  // Perfect agreement has no spread of its own.
  const spread = Math.max(standardError, (kappa.high - kappa.low) / 2 / normal975)
  if (distance === 0) return null
  return Math.max(1, Math.ceil(pairs * (((normal975 + normal80) * spread) / distance) ** 2) - pairs)
}

const normal975 = 1.959963984540054
const normal80 = 0.8416212335729143
