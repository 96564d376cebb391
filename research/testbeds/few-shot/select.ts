import type { Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { distance, each, features, prototypes, type Row } from './task.ts'

/** Chooses as many places of the pool; `labelOf` is the person who labels. */
export type Select = (
  rows: readonly Row[],
  count: number,
  random: Random,
  labelOf: (at: number) => number,
) => number[]

const nearestTo = (rows: readonly Row[], centre: Row, taken: readonly number[]): number =>
  rows.reduce((best, row, at) => {
    if (taken.includes(at)) return best
    return best < 0 || distance(row, centre) < distance(rows[best], centre) ? at : best
  }, -1)

/** Any. */
export const atRandom: Select = (rows, count, random) =>
  random.shuffle(rows.map((_, at) => at)).slice(0, count)

/** The farthest from all that are chosen, again and again. */
export const kCentre: Select = (rows, count, random) => {
  const chosen = [random.int(rows.length)]
  while (chosen.length < count) {
    const gaps = rows.map((row) => Math.min(...chosen.map((at) => distance(row, rows[at]))))
    chosen.push(gaps.indexOf(Math.max(...gaps)))
  }
  return chosen
}

/** The one that the learner is least sure of, after the labels so far. */
export const entropy: Select = (rows, count, random, labelOf) => {
  const chosen = [random.int(rows.length)]
  while (chosen.length < count) {
    const classify = prototypes(chosen.map((at) => ({ row: rows[at], label: labelOf(at) })))
    const doubts = rows.map((row, at) =>
      chosen.includes(at) ? -1 : -classify(row).reduce((sum, p) => sum + (p > 0 ? p * Math.log(p) : 0), 0),
    )
    const most = Math.max(...doubts)
    // With labels of one class it is sure of everything: any will do.
    const ties = doubts.flatMap((doubt, at) => (doubt === most ? [at] : []))
    chosen.push(random.pick(ties))
  }
  return chosen
}

/** Nearest to the means of a mixture with as many parts as labels. `soft`: Gaussians of one variance by EM, otherwise k-means. */
export const mixture =
  (soft: boolean): Select =>
  (rows, count, random, labelOf) => {
    let centres: Row[] = kCentre(rows, count, random, labelOf).map((at) => rows[at])
    let variance = average(rows.map((row) => Math.min(...centres.map((c) => distance(row, c))))) / features
    for (let round = 0; round < 20; round++) {
      const shares = rows.map((row) => {
        const gaps = centres.map((centre) => distance(row, centre))
        const least = Math.min(...gaps)
        const weights = gaps.map((gap) =>
          soft ? Math.exp((least - gap) / (2 * variance)) : Number(gap === least),
        )
        const sum = weights.reduce((a, b) => a + b)
        return weights.map((weight) => weight / sum)
      })
      centres = centres.map((centre, k) => {
        const total = shares.reduce((sum, share) => sum + share[k], 0)
        return total === 0
          ? centre
          : each(features, (i) => rows.reduce((sum, row, n) => sum + (shares[n][k] * row[i]) / total, 0))
      })
      const spread = rows.map((row, n) =>
        centres.reduce((sum, c, k) => sum + shares[n][k] * distance(row, c), 0),
      )
      variance = Math.max(1e-6, average(spread) / features)
    }
    return centres.reduce<number[]>((taken, centre) => [...taken, nearestTo(rows, centre, taken)], [])
  }
