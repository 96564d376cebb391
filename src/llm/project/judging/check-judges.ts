import { join } from 'node:path'
import { type Agreement, cohenKappa, pairsNeeded } from '../../../statistics/agreement.ts'
import { type Estimate, groupedWilsonInterval, type MeanEstimate } from '../../../statistics/statistics.ts'
import { readWithChecksum, withChecksum } from '../../../runs/checksums.ts'
import { appendLines, readLines, withFileErrors } from '../../../runs/files.ts'
import { isRecord } from '../../../untrusted/schema-check.ts'
import { type Label, majority } from './labels.ts'
import { makeSharedFolder } from './judgements.ts'
import type { Judge } from './judges.ts'

/** What scorers said of a trial. */
export interface ScoredTrial {
  id: string
  task: string
  scores: Readonly<Record<string, number | null>>
}

/** How a scorer agrees with labels. */
export interface ScorerCheck {
  scorer: string
  /** Absent if it asks no model. */
  judge?: Judge
  /** `a` is the label, `b` is what the scorer says. */
  agreement: Agreement
  /** Of the trials that were labelled as failures, the share that the scorer passes; 95% interval over tasks. */
  falsePass: Estimate
  /** Of the trials that were labelled as successes, the share that the scorer does not pass. */
  falseFail: Estimate
  /** Labelled trials that it could not judge. They count nowhere. */
  unjudged: number
  /** About how many more labels would show whether kappa exceeds the threshold. Null if that cannot be said. */
  labelsNeeded: number | null
}

/** How well two raters agree on the trials that both have labelled. */
export interface RaterCheck {
  a: string
  b: string
  agreement: Agreement
}

/** The result of `checkJudges`. */
export interface JudgesCheck {
  /** Trials with a label that counts. */
  labelled: number
  /** Trials on which the raters are split evenly. */
  split: number
  scorers: ScorerCheck[]
  raters: RaterCheck[]
}

/** Compares scorers with labels, and raters with each other. */
export function checkJudges(
  trials: readonly ScoredTrial[],
  labels: readonly Label[],
  { judges, threshold }: { judges: readonly Judge[]; threshold: number },
): JudgesCheck {
  const known = new Map(trials.map((trial) => [trial.id, trial]))
  const counted = labels.filter(({ trial }) => known.has(trial))
  const { labels: decided, split } = majority(counted)
  const labelled = [...decided].flatMap(([id, success]) => {
    const trial = known.get(id)
    return trial === undefined ? [] : [{ trial, success }]
  })
  const names = [...new Set(trials.flatMap(({ scores }) => Object.keys(scores)))]
  return {
    labelled: labelled.length,
    split,
    scorers: names.map((name) => checkScorer(name, labelled, judges, threshold)),
    raters: ratersOf(counted, known),
  }
}

function checkScorer(
  name: string,
  labelled: readonly { trial: ScoredTrial; success: boolean }[],
  judges: readonly Judge[],
  threshold: number,
): ScorerCheck {
  const judge = judges.find(({ scorer }) => scorer === name)
  const passAt = judge?.passAt ?? 1
  const pairs = labelled.flatMap(({ trial: { task, scores }, success }) => {
    const score = scores[name] ?? null
    return score === null ? [] : [{ group: task, a: success, b: score >= passAt }]
  })
  const agreement = cohenKappa(pairs)
  const rate = (of: boolean): Estimate => {
    const byTask = new Map<string, { successes: number; trials: number }>()
    for (const { group, a, b } of pairs) {
      if (a !== of) continue
      const { successes, trials } = byTask.get(group) ?? { successes: 0, trials: 0 }
      byTask.set(group, { successes: successes + Number(b !== of), trials: trials + 1 })
    }
    return groupedWilsonInterval([...byTask.values()])
  }
  return {
    scorer: name,
    ...(judge !== undefined && { judge }),
    agreement,
    falsePass: rate(false),
    falseFail: rate(true),
    unjudged: labelled.length - pairs.length,
    labelsNeeded: pairsNeeded(agreement, threshold),
  }
}

function ratersOf(labels: readonly Label[], trials: ReadonlyMap<string, ScoredTrial>): RaterCheck[] {
  const byRater = new Map<string, Map<string, boolean>>()
  for (const { rater, trial, success } of labels)
    byRater.set(rater, (byRater.get(rater) ?? new Map<string, boolean>()).set(trial, success === true))
  const raters = [...byRater].sort(([a], [b]) => (a < b ? -1 : 1))
  return raters.flatMap(([a, ofA], at) =>
    raters.slice(at + 1).flatMap(([b, ofB]): RaterCheck[] => {
      const pairs = [...ofA].flatMap(([trial, own]) => {
        const other = ofB.get(trial)
        return other === undefined ? [] : [{ group: trials.get(trial)?.task ?? trial, a: own, b: other }]
      })
      return pairs.length === 0 ? [] : [{ a, b, agreement: cohenKappa(pairs) }]
    }),
  )
}

/** What is kept of a check, and shown beside the scores of the judge. */
export interface KeptCheck {
  /** Of the judge. */
  id: string
  kappa: MeanEstimate
  /** Labelled trials. */
  labels: number
}

const checksFile = 'judge-checks.jsonl'

/** Keeps how the judges agree with labels, by their ids. The last check of a judge counts. */
export function keepChecks(folder: string, scorers: readonly ScorerCheck[]): void {
  makeSharedFolder(folder)
  const file = join(folder, checksFile)
  const lines = scorers.flatMap(({ judge, agreement: { kappa, pairs } }) =>
    judge === undefined || pairs === 0
      ? []
      : [withChecksum({ id: judge.id, kappa, labels: pairs, at: new Date().toISOString() }).trimEnd()],
  )
  withFileErrors(file, () => appendLines(file, lines))
}

/** The kept checks by the id of the judge. Lines with a wrong checksum are passed over. */
export function readChecks(folder: string | undefined): Map<string, KeptCheck> {
  if (folder === undefined) return new Map()
  const file = join(folder, checksFile)
  return new Map(
    withFileErrors(file, () => readLines(file)).flatMap((line): [string, KeptCheck][] => {
      const { fields = {}, sum } = readWithChecksum(line) ?? {}
      const { id, kappa, labels } = fields
      return sum !== undefined && typeof id === 'string' && isRecord(kappa)
        ? [[id, { id, kappa: kappa as unknown as MeanEstimate, labels: Number(labels) }]]
        : []
    }),
  )
}
