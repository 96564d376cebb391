// Simulates the rule of the papers end to end: a pilot, the plan of its deviations, a run of so many seeds, the verdict.
import { createRandom } from 'agoge/engine'
import { type Judged, judge, type Verdict } from '../../research/runner/judge.ts'
import type { Paper, PaperRuns } from '../../research/runner/paper.ts'
import { pilotSeeds, plannedComparisons } from '../../research/runner/plan.ts'

type Random = ReturnType<typeof createRandom>

/** Draws with mean 0 and deviation 1. */
const noises = {
  normal: (random: Random) => random.normal(),
  'skewed right': (random: Random) => exponential(random) - 1,
  'skewed left': (random: Random) => 1 - exponential(random),
  // Two modes, the smaller one with probability 0.3, as of times that are short or never end.
  bimodal: (random: Random) =>
    (random.next() < 0.3 ? Math.sqrt(0.7 / 0.3) : -Math.sqrt(0.3 / 0.7)) * Math.sqrt(0.9) +
    Math.sqrt(0.1) * random.normal(),
}

const exponential = (random: Random): number => -Math.log(1 - random.next())

/** How scores are distributed. `tied` are successes, 0 or 1, with the rival's rate. */
export const shapes = [...(Object.keys(noises) as (keyof typeof noises)[]), 'tied 0.5', 'tied 0.1'] as const
export type Shape = (typeof shapes)[number]

/**
 * What is true of the arms: `none`: one rival is as good, and every other is far behind; `equal`: all are as good; `declared`: every
 * rival is behind by exactly the effect that counts.
 */
export type Truth = 'none' | 'equal' | 'declared'

export interface Cell {
  shape: Shape
  rivals: number
  /** Deviation of the differences, in units of the effect that counts. Not used for tied scores. */
  deviation: number
  truth: Truth
}

export interface CellResult extends Cell {
  simulations: number
  /** Mean number of seeds of the plans. */
  seeds: number
  /** Share of each verdict. */
  verdicts: Record<Verdict, number>
}

/** The effect that counts: 1 for scores with noise, 0.2 for successes. */
const effectOf = (shape: Shape): number => (shape.startsWith('tied') ? 0.2 : 1)

/** How far behind rival `i` is, in units of the effect that counts. */
const lead = (truth: Truth, i: number): number =>
  truth === 'declared' ? 1 : truth === 'none' && i > 0 ? 3 : 0

/** Scores of one seed by arm: the better one first. A part that the seed decides is shared and cancels in pairs. */
function scoresOf({ shape, rivals, deviation, truth }: Cell, random: Random): number[] {
  const behind = Array.from({ length: rivals }, (_, i) => lead(truth, i) * effectOf(shape))
  if (shape.startsWith('tied')) {
    const rate = Number(shape.slice(5))
    // Rivals that are far behind have nothing, and the better arm has the rest.
    const best = rate + (truth === 'declared' ? effectOf(shape) : 0)
    return [best, ...behind.map((less) => Math.max(0, best - less))].map((rate) =>
      random.next() < rate ? 1 : 0,
    )
  }
  const noise = noises[shape as keyof typeof noises]
  const shared = 5 * random.normal()
  // Most of the noise is of the better arm, so that skewness does not cancel and comparisons correlate.
  const draw = (share: number): number => deviation * Math.sqrt(share) * noise(random)
  return [
    shared + draw(0.9),
    ...behind.map((less) => shared - less + deviation * Math.sqrt(0.1) * random.normal()),
  ]
}

function runsOf(cell: Cell, seeds: number, random: Random): PaperRuns {
  const rows = Array.from({ length: seeds }, () => scoresOf(cell, random))
  const arms = rows[0].map((_, arm) => ({
    scores: rows.map((row) => row[arm]),
    measures: {},
    starts: [],
    unreached: 0,
    seconds: 0,
  }))
  return { arms: Object.fromEntries(arms.map((runs, arm) => [`arm-${arm}`, runs])) }
}

/** The rule on so many simulated papers of a cell. The same seed gives the same shares. */
export function simulateCell(cell: Cell, simulations: number, most = 1000): CellResult {
  const { shape, rivals, deviation, truth } = cell
  const random = createRandom('papers-rule', shape, rivals, deviation, truth)
  const than = Array.from({ length: rivals }, (_, i) => `arm-${i + 1}`)
  const paper: Judged = {
    pairing: 'seed',
    effect: { better: 'arm-0', than, atLeast: effectOf(shape) },
  }
  const verdicts: Record<Verdict, number> = {
    reproduced: 0,
    contradicted: 0,
    equivalent: 0,
    underpowered: 0,
    invalid: 0,
  }
  let seeds = 0
  for (let i = 0; i < simulations; i++) {
    const planned = plannedComparisons(paper as Paper, runsOf(cell, pilotSeeds, random))
    const count = Math.min(most, Math.max(...planned.map((comparison) => comparison.seeds)))
    seeds += count / simulations
    verdicts[judge(paper, runsOf(cell, count, random)).verdict] += 1 / simulations
  }
  return { ...cell, simulations, seeds, verdicts }
}
