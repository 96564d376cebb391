import { createHash } from 'node:crypto'
import { studentQuantile } from 'agoge/statistics'
import { evidenceOf, onScale } from './judge.ts'
import { type Check, type Control, type Effect, type Paper, type PaperRuns, sameArm } from './paper.ts'

/** What decides the result of an experiment, apart from the code. */
export interface Design {
  metric: string
  higherIsBetter: boolean
  arms: string[]
  pairing: Paper['pairing']
  effect: Effect
  checks: readonly Check[]
  control: Control
  budget: Readonly<Record<string, number>>
}

/** Seeds from one to another, both included. */
export interface Seeds {
  from: number
  to: number
}

/** How many seeds a comparison needs. */
export interface PlannedComparison {
  better: string
  than: string
  atLeast: number
  /** Standard deviation of the differences of the pilot, on the scale of the effect. */
  deviation: number
  /** Upper 95% confidence bound of the deviation, with which the plan is computed: a lucky or skewed pilot must not starve it. */
  bound: number
  seeds: number
}

/** A plan, as its file has it. It is committed before the run. */
export interface Plan {
  schema: 1
  id: string
  /** When it was made, ISO 8601. */
  date: string
  design: Design
  /** Hash of the paper's module and of the modules beside it that it imports. */
  module: string
  pilot: { seeds: Seeds; secondsPerSeed: number }
  comparisons: PlannedComparison[]
  power: number
  /** The most seeds that were allowed. */
  most: number
  /** Why it cannot show the effect even if it is there. Null if it can. */
  underpowered: string | null
  seeds: Seeds
  /** Seeds of the A/A control. */
  again: Seeds
  command: string
}

const level = 0.05
const power = 0.8
/** Fewer seeds say too little about the shape of the scores. */
export const fewestSeeds = 16
/** Seeds of a pilot, by default. */
export const pilotSeeds = 12
/** Seeds of pilots begin here; settings are chosen with them. */
export const pilotFrom = 101
/** Seeds of results begin here. */
const firstSeed = 1001

/** The design of a paper. */
export function designOf(paper: Paper): Design {
  const { metric, higherIsBetter = true, pairing, effect, checks = [], control, budget } = paper
  const { positive = { better: effect.better, than: effect.than[0], atLeast: effect.atLeast } } =
    control ?? {}
  const arms = Object.keys(paper.arms)
  return {
    metric,
    higherIsBetter,
    arms,
    pairing,
    effect,
    checks,
    control: { positive, same: sameArm(paper) },
    budget,
  }
}

/**
 * Seeds for every comparison from the runs of a pilot. A rival needs as many as give 80% power, over all rivals, to find an effect of
 * `atLeast`, and to find equivalence where there is none. The positive control has 95% power.
 */
export function plannedComparisons(paper: Paper, pilot: PaperRuns): PlannedComparison[] {
  const { effect, control } = paper
  const planned = (better: string, than: string, atLeast: number, seeds: (ratio: number) => number) => {
    const { error, df } = evidenceOf(paper, pilot.arms[better], pilot.arms[than])
    const deviation = error * Math.sqrt(pilot.arms[better].scores.length)
    const bound = deviation * Math.sqrt(df / chiSquareQuantile(0.05, df))
    return {
      better,
      than,
      atLeast,
      deviation,
      bound,
      seeds: seeds(bound / Math.abs(onScale(effect, atLeast))),
    }
  }
  const k = effect.than.length
  const missed = 1 - power
  const rivals = effect.than.map((than) =>
    planned(effect.better, than, effect.atLeast, (ratio) =>
      Math.max(
        // All rivals must be beaten: Holm tests the largest p-value at 5% and the smallest at 5% / k.
        seedsFor(ratio, 1 - level / 2, 1 - missed / k),
        seedsFor(ratio, 1 - level / (2 * k), power),
        // Two one-sided tests, of which each may fail.
        seedsFor(ratio, 1 - level / k, 1 - missed / 2),
      ),
    ),
  )
  if (control === undefined) return rivals
  const { better, than, atLeast } = control.positive
  return [...rivals, planned(better, than, atLeast, (ratio) => seedsFor(ratio, 1 - level / 2, 0.95))]
}

/** Fewest seeds with which a t-test at `quantile` finds a difference of 1 with this power, if the deviation is `ratio`. */
function seedsFor(ratio: number, quantile: number, wantedPower: number): number {
  const needed = (n: number): number =>
    ((studentQuantile(quantile, n - 1) + studentQuantile(wantedPower, n - 1)) * ratio) ** 2
  // Quantiles fall with n, so a few rounds settle, or go to and fro between two neighbours.
  let n = fewestSeeds
  for (let round = 0; round < 20; round++) {
    const next = Math.max(fewestSeeds, Math.ceil(needed(n)))
    if (next === n) return n
    n = next
  }
  return n + 1
}

/** Quantile of the chi-square distribution, by Wilson and Hilferty (1931). Within 1% from 5 degrees of freedom. */
function chiSquareQuantile(p: number, df: number): number {
  const spread = 2 / (9 * df)
  return df * (1 - spread + studentQuantile(p, 1e6) * Math.sqrt(spread)) ** 3
}

/** What a plan is made of, apart from the paper. */
export interface PlanRecord {
  /** Hash of the modules. */
  module: string
  pilot: { runs: PaperRuns; seeds: Seeds }
  /** The most seeds that are allowed. */
  most: number
  /** The last seed that an earlier plan or result of this paper used. 0 if there was none. */
  used: number
  command: string
  date: Date
}

/** The plan of a paper after its pilot. A paper never uses a seed twice. */
export function makePlan(paper: Paper, { module, pilot, most, used, command, date }: PlanRecord): Plan {
  const comparisons = plannedComparisons(paper, pilot.runs)
  const needed = Math.max(...comparisons.map(({ seeds }) => seeds))
  const count = Math.min(needed, most)
  const from = Math.max(firstSeed, used + 1)
  const pilots = pilot.seeds.to - pilot.seeds.from + 1
  const seconds = Object.values(pilot.runs.arms).reduce((sum, arm) => sum + arm.seconds, 0)
  return {
    schema: 1,
    id: paper.id,
    date: date.toISOString(),
    design: designOf(paper),
    module,
    pilot: { seeds: pilot.seeds, secondsPerSeed: seconds / pilots },
    comparisons,
    power,
    most,
    underpowered: needed > most ? `${needed} seeds would be needed, ${most} are allowed` : null,
    seeds: { from, to: from + count - 1 },
    again: { from: from + count, to: from + 2 * count - 1 },
    command,
  }
}

/** Hash of the content of a plan, whatever its layout. */
export const planHash = (plan: Plan): string => hashText(JSON.stringify(plan))

/** The first 16 hex digits of SHA-256. */
export const hashText = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)
