import type { Episode } from '../../src/llm/episode/types.ts'
import { compareSuccess } from '../../src/llm/evaluation/episode-statistics.ts'
import { createRandom } from '../../src/engine/random/index.ts'
import { anytimeInterval } from '../../src/statistics/anytime.ts'

/** Chances that one side alone, and the other side alone, succeeds at a task. */
export const comparisons = {
  'the same, at odds in 40% of the tasks': { better: 0.2, worse: 0.2 },
  'the same, at odds in 4% of the tasks': { better: 0.02, worse: 0.02 },
  'one better by 20 points': { better: 0.3, worse: 0.1 },
  'one better by 90 points': { better: 0.9, worse: 0 },
} as const

export type ComparisonName = keyof typeof comparisons

/** Shares of the simulated comparisons of up to `n` tasks. */
export interface AnytimeCell {
  name: ComparisonName
  n: number
  /** The anytime interval held the true difference after every single task. */
  path: number
  /** The interval for a number of tasks that was fixed before held it after the last one. */
  fixed: number
  /** That interval was below 0 after the last task, and the anytime interval after any: a regression, if there is none. */
  fixedBelow: number
  anytimeBelow: number
  /** Tasks after which half of the anytime intervals had been clear of 0; null if fewer were. */
  clear: number | null
}

/** Compares two sides on `n` tasks, one trial each, in so many simulations. */
export function anytimeCoverage(name: ComparisonName, n: number, simulations: number): AnytimeCell {
  const random = createRandom('anytime coverage', name, n)
  const { better, worse } = comparisons[name]
  const cell: AnytimeCell = {
    name,
    n,
    path: 0,
    fixed: 0,
    fixedBelow: 0,
    anytimeBelow: 0,
    clear: null,
  }
  const clear: number[] = []
  const holds = ({ low, high }: { low: number | null; high: number | null }): boolean =>
    (low ?? -1) <= better - worse && (high ?? 1) >= better - worse
  for (let i = 0; i < simulations; i++) {
    const sequence = anytimeInterval({ values: n })
    const [a, b]: [Episode[], Episode[]] = [[], []]
    let [always, below, isClear, now] = [true, false, false, { low: -1, high: 1 }]
    for (let task = 0; task < n; task++) {
      const u = random.next()
      const gain = u < better ? 1 : u < better + worse ? -1 : 0
      a.push({ task: String(task), status: 'ok', success: gain === 1 } as Episode)
      b.push({ task: String(task), status: 'ok', success: gain === -1 } as Episode)
      now = sequence.add(gain)
      always &&= holds(now)
      below ||= now.high < 0
      if (!isClear && (now.low > 0 || now.high < 0)) {
        isClear = true
        clear.push(task + 1)
      }
    }
    const fixed = compareSuccess(a, b)
    cell.path += Number(always) / simulations
    cell.fixed += Number(holds(fixed)) / simulations
    cell.fixedBelow += Number((fixed.high ?? 1) < 0) / simulations
    cell.anytimeBelow += Number(below) / simulations
  }
  clear.sort((a, b) => a - b)
  return { ...cell, clear: clear[Math.ceil(simulations / 2) - 1] ?? null }
}
