import { AgogeError } from 'agoge'
import { holmAdjusted, average, type MeanEstimate, meanInterval } from 'agoge/statistics'
import { type Evidence, interval, oneSided, pairedEvidence, unpairedEvidence } from './evidence.ts'
import { type ArmRuns, type Check, type Effect, type Paper, type PaperRuns, sameArm } from './paper.ts'

/** The level of all comparisons of a paper together. */
const level = 0.05
/** The A/A control is wrong in one experiment of a hundred: a valid experiment should rarely be called invalid. */
const sameLevel = 0.01

/** What came of a claim. */
export type Verdict = 'reproduced' | 'contradicted' | 'equivalent' | 'underpowered' | 'invalid'

/** The claimed better arm against one other. */
export interface Comparison {
  better: string
  than: string
  /** Positive if the better arm is better. On scale `ratio` a factor, above 1 if it is better. */
  effect: number
  /** Interval of the effect, at the level at which Holm's procedure tests this comparison. */
  low: number
  high: number
  level: number
  /** Two-sided p-value of no effect, adjusted by Holm. */
  p: number
  /** P-value of an effect of at least `atLeast` in either direction, adjusted by Holm. Small: the arms are equivalent. */
  equivalence: number
  outcome: 'better' | 'worse' | 'equivalent' | 'open'
}

/** A manipulation check or a control, and what came of it. */
export interface CheckOutcome {
  kind: 'manipulation' | 'positive control' | 'A/A control'
  about: string
  /** What was found, and what was expected, in words. */
  found: string
  expected: string
  passed: boolean
}

/** All runs of an arm in short. */
export interface ArmSummary {
  /** The mean with its 95% interval; the geometric mean on scale `ratio`. */
  score: MeanEstimate
  /** Mean score before training. */
  start?: number
  /** Means of the measures. */
  measures: Record<string, number>
  /** How many times were cut off at the budget. */
  unreached: number
}

export interface Judgement {
  verdict: Verdict
  comparisons: Comparison[]
  /** The better arm against the arms that the claim does not name. They do not count for the verdict. */
  others: Comparison[]
  checks: CheckOutcome[]
  arms: Record<string, ArmSummary>
}

/** The parts of a paper that the rule needs. */
export type Judged = Pick<Paper, 'effect' | 'pairing' | 'higherIsBetter' | 'checks' | 'control'>

/**
 * Judges the runs of a paper. The comparisons with the rivals are corrected by Holm at 5% together.
 *
 * - invalid: a manipulation check or a control failed.
 * - contradicted: some rival is significantly better, and the effect is not shown to be smaller than `atLeast`.
 * - equivalent: against some rival, the effect is shown to be smaller than `atLeast` in both directions (two one-sided tests), even if it
 *   differs from 0: what is smaller than what counts does not count.
 * - reproduced: the arm is significantly better than every rival. If times were cut off at the budget, it must not have more of them.
 * - underpowered: everything else.
 *
 * @throws AgogeError if a score is not above 0 on scale `ratio`, or if a check names a measure that an arm does not return.
 */
export function judge(paper: Judged, runs: PaperRuns): Judgement {
  const { effect } = paper
  const comparisons = compare(paper, effect, runs)
  const unnamed = Object.keys(runs.arms).filter((arm) => arm !== effect.better && !effect.than.includes(arm))
  const checks = [
    ...(paper.checks ?? []).flatMap((check) => manipulation(check, runs)),
    ...positiveControl(paper, runs),
    ...sameControl(paper, runs),
  ]
  return {
    verdict: verdictOf(comparisons, checks),
    comparisons,
    others: compare(paper, { ...effect, than: unnamed }, runs),
    checks,
    arms: Object.fromEntries(Object.entries(runs.arms).map(([arm, of]) => [arm, summary(effect, of)])),
  }
}

function verdictOf(comparisons: readonly Comparison[], checks: readonly CheckOutcome[]): Verdict {
  const some = (outcome: Comparison['outcome']): boolean => comparisons.some((one) => one.outcome === outcome)
  if (checks.some(({ passed }) => !passed)) return 'invalid'
  if (some('worse')) return 'contradicted'
  if (some('equivalent')) return 'equivalent'
  return some('open') ? 'underpowered' : 'reproduced'
}

/** The effect on the scale of the tests: logarithms for ratios. */
export const onScale = ({ scale }: Pick<Effect, 'scale'>, value: number): number =>
  scale === 'ratio' ? Math.log(value) : value

const fromScale = ({ scale }: Pick<Effect, 'scale'>, value: number): number =>
  scale === 'ratio' ? Math.exp(value) : value

function compare(paper: Judged, effect: Effect, runs: PaperRuns): Comparison[] {
  const { better, than } = effect
  const found = than.map((other) => evidenceOf(paper, runs.arms[better], runs.arms[other]))
  const margin = onScale(effect, effect.atLeast)
  const ps = found.map((evidence) => {
    const { above, below } = oneSided(evidence, 0)
    return Math.min(1, 2 * Math.min(above, below))
  })
  const tost = found.map((evidence) =>
    Math.max(oneSided(evidence, -margin).above, oneSided(evidence, margin).below),
  )
  const [adjusted, equivalence] = [holmAdjusted(ps), holmAdjusted(tost)]
  const order = ps.map((_, i) => i).sort((i, j) => ps[i] - ps[j])
  return than.map((other, i) => {
    const tested = 1 - level / (than.length - order.indexOf(i))
    const { low, high } = interval(found[i], tested)
    const moreCutOff = runs.arms[better].unreached > runs.arms[other].unreached
    return {
      better,
      than: other,
      effect: fromScale(effect, found[i].mean),
      low: fromScale(effect, low),
      high: fromScale(effect, high),
      level: tested,
      p: adjusted[i],
      equivalence: equivalence[i],
      outcome: outcomeOf(found[i].mean, adjusted[i], equivalence[i], moreCutOff),
    }
  })
}

function outcomeOf(mean: number, p: number, equivalence: number, moreCutOff: boolean): Comparison['outcome'] {
  if (equivalence < level) return 'equivalent'
  if (p >= level) return 'open'
  if (mean < 0) return 'worse'
  // A time that was cut off is longer than its score, so the effect would be overstated.
  return moreCutOff ? 'open' : 'better'
}

/**
 * Evidence that arm `a` is better than arm `b`, on the scale of the effect.
 *
 * @throws AgogeError if a score is not above 0 on scale `ratio`.
 */
export function evidenceOf(
  paper: Pick<Paper, 'effect' | 'pairing' | 'higherIsBetter'>,
  a: ArmRuns,
  b: ArmRuns,
): Evidence {
  const sign = paper.higherIsBetter === false ? -1 : 1
  const scaled = ({ scores }: ArmRuns): number[] =>
    scores.map((score) => sign * onScale(paper.effect, positive(paper, score)))
  return (paper.pairing === 'seed' ? pairedEvidence : unpairedEvidence)(scaled(a), scaled(b))
}

function positive({ effect }: Pick<Paper, 'effect'>, score: number): number {
  if (effect.scale !== 'ratio' || score > 0) return score
  throw new AgogeError('scores are compared as ratios, but one is not above 0', {
    code: 'bad-paper',
    given: score,
    expected: 'scores above 0, or scale: difference',
  })
}

function manipulation(check: Check, runs: PaperRuns): CheckOutcome[] {
  const { about, of, atLeast, atMost } = check
  const arms = typeof check.arm === 'string' ? [check.arm] : check.arm
  const expected = [
    ...(atLeast === undefined ? [] : [`at least ${atLeast}`]),
    ...(atMost === undefined ? [] : [`at most ${atMost}`]),
  ].join(', ')
  return arms.map((arm) => {
    const value = average(measured(arm, of, runs.arms[arm]))
    return {
      kind: 'manipulation',
      about: `${arm}: ${about}`,
      found: `mean of ${of}: ${short(value)}`,
      expected,
      passed: value >= (atLeast ?? -Infinity) && value <= (atMost ?? Infinity),
    }
  })
}

function measured(arm: string, of: string, { scores, starts, measures }: ArmRuns): readonly number[] {
  const values = of === 'score' ? scores : of === 'start' ? starts : (measures[of] ?? [])
  if (values.length === scores.length) return values
  throw new AgogeError(`a check reads "${of}" of arm "${arm}", which not every run returns`, {
    code: 'bad-paper',
    given: `${values.length} values of ${scores.length} runs`,
    expected: `one of ${['score', 'start', ...Object.keys(measures)].join(', ')}, from every run`,
  })
}

function positiveControl(paper: Judged, runs: PaperRuns): CheckOutcome[] {
  if (paper.control === undefined) return []
  const { better, than, atLeast } = paper.control.positive
  const effect = { ...paper.effect, better, than: [than], atLeast }
  const [comparison] = compare(paper, effect, runs)
  return [
    {
      kind: 'positive control',
      about: `${better} is better than ${than}`,
      found: effectText(comparison, paper.effect),
      expected: `better, and not by less than ${short(atLeast)}`,
      passed: comparison.outcome === 'better',
    },
  ]
}

/** The seeds of the two are different, so they are not paired. */
function sameControl(paper: Judged, { arms, again }: PaperRuns): CheckOutcome[] {
  if (again === undefined) return []
  const arm = sameArm(paper)
  const evidence = evidenceOf({ ...paper, pairing: 'none' }, arms[arm], again)
  const { above, below } = oneSided(evidence, 0)
  const p = Math.min(1, 2 * Math.min(above, below))
  return [
    {
      kind: 'A/A control',
      about: `${arm} does not differ from itself with other seeds`,
      found: `effect ${short(fromScale(paper.effect, evidence.mean))}, p = ${short(p)}`,
      expected: `p of at least ${sameLevel}`,
      passed: p >= sameLevel,
    },
  ]
}

function summary(effect: Effect, runs: ArmRuns): ArmSummary {
  const ratio = effect.scale === 'ratio'
  const found = meanInterval(ratio ? runs.scores.map(Math.log) : runs.scores)
  const score: MeanEstimate =
    !ratio || found.low === null
      ? { ...found, mean: fromScale(effect, found.mean) }
      : { ...found, mean: Math.exp(found.mean), low: Math.exp(found.low), high: Math.exp(found.high) }
  return {
    score,
    ...(runs.starts.length === 0 ? {} : { start: average(runs.starts) }),
    measures: Object.fromEntries(
      Object.entries(runs.measures).map(([name, values]) => [name, average(values)]),
    ),
    unreached: runs.unreached,
  }
}

/** The effect with its interval: `0.12 (0.05 to 0.19)`, or `3.1 times (2.2 to 4.4)`. */
export function effectText(
  { effect, low, high }: Pick<Comparison, 'effect' | 'low' | 'high'>,
  { scale }: Pick<Effect, 'scale'>,
): string {
  return `${short(effect)}${scale === 'ratio' ? ' times' : ''} (${short(low)} to ${short(high)})`
}

/** Three significant digits, whole above 1000. */
export const short = (value: number): string =>
  Math.abs(value) >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(3)))
