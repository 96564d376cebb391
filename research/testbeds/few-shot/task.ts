import type { Random } from 'agoge/engine'
import { average } from 'agoge/statistics'

/** Classes of a task. */
export const classes = 5
/** Features that tell classes apart, and all of them. The others vary more than these. */
export const [telling, features] = [4, 8]
const [inPool, asked] = [12, 20]

/** The features of an example. */
export type Row = readonly number[]
/** An example with its class. */
export interface Example {
  row: Row
  label: number
}

/** A list by index. */
export const each = <T>(length: number, of: (index: number) => T): T[] =>
  Array.from({ length }, (_, i) => of(i))
/** Squared Euclidean distance. */
export const distance = (a: Row, b: Row): number => a.reduce((sum, value, i) => sum + (value - b[i]) ** 2, 0)
const meanOf = (rows: readonly Row[]): number[] => each(features, (i) => average(rows.map((row) => row[i])))

/** A few-shot task: classes that were never met, a pool without labels, and queries. */
export function drawTask(random: Random): { pool: Example[]; queries: Example[] } {
  const centres = each(classes, () => each(telling, () => 1.5 * random.normal()))
  const drawn = (label: number): Example => ({
    label,
    row: each(features, (i) => (i < telling ? centres[label][i] + random.normal() : 3 * random.normal())),
  })
  const all = (count: number): Example[] => each(classes * count, (i) => drawn(i % classes))
  return { pool: random.shuffle(all(inPool)), queries: all(asked) }
}

/** What is learned over training tasks: the scale of each feature in which classes are far apart and examples of one are close. */
export function metaLearn(random: Random, tasks: number): number[] {
  const found = each(tasks, () => {
    const { queries } = drawTask(random)
    const groups = each(classes, (label) =>
      queries.filter((one) => one.label === label).map(({ row }) => row),
    )
    const middle = meanOf(queries.map(({ row }) => row))
    return each(features, (i) => {
      const within = average(groups.flatMap((rows) => rows.map((row) => (row[i] - meanOf(rows)[i]) ** 2)))
      const between = average(groups.map((rows) => (meanOf(rows)[i] - middle[i]) ** 2))
      return Math.max(0, between / within - 1 / asked) / within
    })
  })
  return each(features, (i) => Math.sqrt(average(found.map((scales) => scales[i]))))
}

/** The classes nearest to the mean of their labelled examples; a class without any is never said. */
export function prototypes(labelled: readonly Example[]): (row: Row) => number[] {
  const centres = each(classes, (label) => {
    const rows = labelled.filter((one) => one.label === label).map(({ row }) => row)
    return rows.length === 0 ? undefined : meanOf(rows)
  })
  return (row) => {
    const scores = centres.map((centre) => (centre === undefined ? 0 : Math.exp(-distance(row, centre) / 2)))
    const sum = scores.reduce((a, b) => a + b, 1e-300)
    return scores.map((score) => score / sum)
  }
}
