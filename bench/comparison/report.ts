import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { hierarchicalInterval, holmAdjusted } from 'agoge/statistics'
import type { HierarchicalEstimate, HierarchicalValue } from 'agoge/statistics'
import type { ArmName, Mixture } from './arms.ts'
import { armsOf } from './arms.ts'
import { comparisonPage } from './page.ts'
import { type Setting, settings } from './settings.ts'
import type { ArmPiece, Piece, TestResults, WarmPiece } from './store.ts'

export type TestName = keyof TestResults
export const tests: readonly TestName[] = ['known', 'paraphrased', 'heldOutKinds']

/** An arm over its seeds. `arm` is null for the warm start. */
export interface ArmRow {
  arm: ArmName | null
  mixture: Mixture
  seeds: number[]
  success: Record<TestName, HierarchicalEstimate>
  /** Means over the seeds. */
  cost: { computedTokens: number; calls: number; minutes: number; cpuMinutes: number | null }
  steps: number
  learningRate: number | null
}

/** `a` less `b` on the same tasks of the same seeds. */
export interface Difference {
  a: ArmName
  b: ArmName
  mixture: Mixture
  seeds: number[]
  on: Record<TestName, HierarchicalEstimate>
  /** Of success on known kinds, adjusted within the family of the setting; null outside of the family. */
  adjusted: number | null
}

/** An arm with its own mixture less the same arm with the common one. */
export type MixtureDifference = Pick<Difference, 'seeds' | 'on'> & { arm: ArmName }

export interface SettingReport {
  setting: Setting
  rows: ArmRow[]
  differences: Difference[]
  /** Without a claim. */
  mixtures: MixtureDifference[]
  /** Seeds that have every arm with the common mixture. */
  complete: number[]
}

/** Comparisons that were planned, of the common mixture. Their p-values are adjusted together. */
export const planned: Readonly<Record<string, readonly (readonly [ArmName, ArmName])[]>> = {
  single: [
    ['rl', 'same'],
    ['rl', 'fresh'],
    ['rl', 'rejection'],
    ['fresh-rl', 'fresh'],
    ['rejection', 'same'],
    ['fresh', 'same'],
  ],
  chains: [['turns', 'outcome']],
}

/** The values of one test with their seed, template and task. A task that could not be judged is left out. */
function valuesOf(
  warm: WarmPiece,
  test: TestName,
  success: (at: number) => number | null,
): HierarchicalValue[] {
  return warm.units[test].flatMap((unit, at) => {
    const value = success(at)
    return value === null ? [] : [{ value, units: [`${warm.seed}`, unit, `${warm.seed}/${at}`] }]
  })
}

const judged = (results: TestResults, test: TestName, at: number): number | null =>
  results[test][at] === '-' ? null : Number(results[test][at])

const average = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)

function overTests(of: (test: TestName) => HierarchicalValue[]): Record<TestName, HierarchicalEstimate> {
  const estimate = (test: TestName): HierarchicalEstimate => hierarchicalInterval(of(test))
  return {
    known: estimate('known'),
    paraphrased: estimate('paraphrased'),
    heldOutKinds: estimate('heldOutKinds'),
  }
}

/** Intervals cut at 0 and 1: one that is symmetric around a share near its end goes beyond it. */
function asShares(of: Record<TestName, HierarchicalEstimate>): Record<TestName, HierarchicalEstimate> {
  const cut = (each: HierarchicalEstimate): HierarchicalEstimate =>
    each.low === null ? each : { ...each, low: Math.max(0, each.low), high: Math.min(1, each.high) }
  return { known: cut(of.known), paraphrased: cut(of.paraphrased), heldOutKinds: cut(of.heldOutKinds) }
}

/** What the pieces of a setting say. */
export function reportOf(setting: Setting, pieces: readonly Piece[]): SettingReport {
  const warm = pieces.flatMap((piece) =>
    piece.piece === 'warm-start' && piece.setting === setting.name ? [piece] : [],
  )
  const bySeed = new Map(warm.map((piece) => [piece.seed, piece]))
  const trained = pieces.flatMap((piece) =>
    piece.piece === 'arm' && piece.setting === setting.name && bySeed.has(piece.seed) ? [piece] : [],
  )
  const of = (arm: ArmName, mixture: Mixture): ArmPiece[] =>
    trained.filter((piece) => piece.arm === arm && piece.mixture === mixture)
  const names = armsOf(setting.name)
  const rows: ArmRow[] = warm.length === 0 ? [] : [rowOf(null, 'common', warm, bySeed)]
  for (const mixture of setting.mixtures)
    for (const arm of names) {
      const own = of(arm, mixture)
      if (own.length > 0) rows.push(rowOf(arm, mixture, own, bySeed))
    }
  const pairs = planned[setting.name === 'chains' ? 'chains' : 'single']
  const differences = setting.mixtures.flatMap((mixture) =>
    pairs.flatMap(([a, b]) =>
      differenceOf(of(a, mixture), of(b, mixture), bySeed).map((found) => ({
        a,
        b,
        mixture,
        adjusted: null as number | null,
        ...found,
      })),
    ),
  )
  const mixtures = names.flatMap((arm) =>
    differenceOf(of(arm, 'own'), of(arm, 'common'), bySeed).map((found) => ({ arm, ...found })),
  )
  const claims = differences.filter(({ mixture }) => mixture === 'common')
  const adjusted = holmAdjusted(claims.map(({ on }) => on.known.pValue))
  for (const [at, difference] of claims.entries()) difference.adjusted = adjusted[at]
  const complete = [...bySeed.keys()].filter((seed) =>
    names.every((arm) => of(arm, 'common').some((piece) => piece.seed === seed)),
  )
  return { setting, rows, differences, mixtures, complete }
}

/** The difference of two lists of pieces on the seeds that both have, as a list of one; empty without such a seed. */
function differenceOf(
  a: readonly ArmPiece[],
  b: readonly ArmPiece[],
  bySeed: ReadonlyMap<number, WarmPiece>,
): Pick<Difference, 'seeds' | 'on'>[] {
  const both = a.flatMap((one) =>
    b.flatMap((other) => (other.seed === one.seed ? [[one, other] as const] : [])),
  )
  if (both.length === 0) return []
  const on = overTests((test) =>
    both.flatMap(([one, other]) =>
      valuesOf(bySeed.get(one.seed)!, test, (at) => {
        const [x, y] = [judged(one.results, test, at), judged(other.results, test, at)]
        return x === null || y === null ? null : x - y
      }),
    ),
  )
  return [{ seeds: both.map(([{ seed }]) => seed), on }]
}

function rowOf(
  arm: ArmName | null,
  mixture: Mixture,
  own: readonly (ArmPiece | WarmPiece)[],
  bySeed: ReadonlyMap<number, WarmPiece>,
): ArmRow {
  const cpu = own.flatMap(({ cost }) => (cost.cpuMinutes === null ? [] : [cost.cpuMinutes]))
  const [first] = own
  return {
    arm,
    mixture,
    seeds: own.map(({ seed }) => seed),
    success: asShares(
      overTests((test) =>
        own.flatMap(({ seed, results }) =>
          valuesOf(bySeed.get(seed)!, test, (at) => judged(results, test, at)),
        ),
      ),
    ),
    cost: {
      computedTokens: average(own.map(({ cost }) => cost.computedTokens)),
      calls: average(own.map(({ cost }) => cost.calls)),
      minutes: average(own.map(({ cost }) => cost.minutes)),
      cpuMinutes: cpu.length === 0 ? null : average(cpu),
    },
    steps: average(own.flatMap((piece) => (piece.piece === 'arm' ? [piece.steps] : []))),
    learningRate: first.piece === 'arm' ? first.learningRate : null,
  }
}

const place = (name: string): string => fileURLToPath(new URL(`../../docs/results/${name}`, import.meta.url))

/** Writes comparison.json and comparison.md from the stored pieces. */
export function writeReport(pieces: readonly Piece[]): void {
  const reports = Object.values(settings).map((setting) => reportOf(setting, pieces))
  const rounded = (_: string, value: unknown): unknown =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value
  const stored = reports.map(({ setting, ...rest }) => ({ setting: setting.name, ...rest }))
  writeFileSync(place('comparison.json'), `${JSON.stringify(stored, rounded, 1)}\n`)
  writeFileSync(place('comparison.md'), comparisonPage(reports, pieces))
}
