import type { Episode, EpisodeNode } from '../episode/types.ts'
import { compareSuccess, isJudged, successByTask } from '../evaluation/episode-statistics.ts'
import type { MeanEstimate } from '../../statistics/statistics.ts'
import type { TrialRecord } from './journal.ts'

/** A task on which two evaluations differ. */
export interface ChangedTask {
  task: string
  kind: string
  /** Successes and judged trials of each side. */
  a: { successes: number; trials: number }
  b: { successes: number; trials: number }
  /** The numbers of two trials to look at: those with different outcomes where there are such. */
  shown: { a: number; b: number }
}

/** How two sets of trials of the same tasks differ. */
export interface EvaluationDiff {
  /** The success rate of `b` less that of `a`, paired by task. */
  difference: MeanEstimate
  /** Tasks that both have a judged trial of. */
  tasks: number
  /** The largest differences first. */
  changed: ChangedTask[]
}

/**
 * Compares the trials of a model in two evaluations, or of two models.
 *
 * @example diffTrials(before.records, after.records).changed.map(({ task }) => task)
 */
export function diffTrials(a: readonly TrialRecord[], b: readonly TrialRecord[]): EvaluationDiff {
  const ofA = successByTask(a)
  const ofB = successByTask(b)
  const share = ({ successes, trials }: { successes: number; trials: number }): number => successes / trials
  const both = [...ofA].flatMap(([task, one]) => {
    const other = ofB.get(task)
    return other === undefined ? [] : [{ task, a: one, b: other, gain: share(other) - share(one) }]
  })
  const changed = both
    .filter(({ gain }) => gain !== 0)
    .sort((x, y) => Math.abs(y.gain) - Math.abs(x.gain) || (x.task < y.task ? -1 : 1))
    .map(({ task, a: one, b: other, gain }) => ({
      task,
      kind: a.find((record) => record.task === task)?.kind ?? 'own',
      a: one,
      b: other,
      shown: { a: trialOf(a, task, gain < 0), b: trialOf(b, task, gain > 0) },
    }))
  return { difference: compareSuccess(b, a), tasks: both.length, changed }
}

/** The first judged trial of a task with this outcome, or else the first. */
function trialOf(records: readonly TrialRecord[], task: string, success: boolean): number {
  const own = records.filter((record) => record.task === task && isJudged(record))
  return (own.find((record) => record.success === success) ?? own[0]).trial
}

/**
 * Two conversations side by side, in columns of equal width. Messages that are the same in both, from the start on, stand there once.
 *
 * @param width characters of a line. Default: 80.
 */
export function sideBySide(a: Episode, b: Episode, width = 80): string[] {
  const [left, right] = [a, b].map((episode) => episode.nodes.map(messageText))
  let same = 0
  while (same < Math.min(left.length, right.length) && left[same] === right[same]) same += 1
  const column = Math.floor((width - 3) / 2)
  const lines = left.slice(0, same).flatMap((text) => wrapped(text, width))
  for (let at = same; at < Math.max(left.length, right.length); at += 1) {
    const [x, y] = [left[at] ?? '', right[at] ?? ''].map((text) => wrapped(text, column))
    for (let line = 0; line < Math.max(x.length, y.length); line += 1)
      lines.push(`${(x[line] ?? '').padEnd(column)} | ${y[line] ?? ''}`.trimEnd())
  }
  return lines
}

function messageText({ role, text, calls = [], isError }: EpisodeNode): string {
  const made = calls.map(({ name, arguments: given }) => `${name} ${JSON.stringify(given)}`)
  return `${role}${isError === true ? ' (error)' : ''}: ${[text, ...made].filter((part) => part !== '').join('\n')}`
}

/** Lines of at most `width` characters, broken at spaces where there are any. */
function wrapped(text: string, width: number): string[] {
  return text.split('\n').flatMap((paragraph) => {
    const lines: string[] = []
    let rest = paragraph
    while (rest.length > width) {
      const space = rest.lastIndexOf(' ', width)
      const cut = space > 0 ? space : width
      lines.push(rest.slice(0, cut))
      rest = rest.slice(cut).trimStart()
    }
    return [...lines, rest]
  })
}
