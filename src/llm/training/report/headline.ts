import type { TrainingSummary } from '../types.ts'
import { percent, percentInterval } from '../../../runs/report/format.ts'

/**
 * One sentence that says what happened on the held-out tasks and no more: "rose" or "fell" only where the 95% intervals do not touch. Begins
 * with the name of the algorithm, where it has one.
 */
export function headline({ stages, algorithm }: TrainingSummary): string {
  const sentence = stagesSentence(stages)
  return algorithm === undefined ? sentence : `${algorithm}: ${sentence}`
}

function stagesSentence(stages: TrainingSummary['stages']): string {
  const base = stages.find(({ name }) => name === 'base')
  const warm = stages.find(({ name }) => name === 'warm-start')
  const last = stages.find(({ name }) => name === 'rl') ?? warm ?? base
  if (base === undefined || last === undefined) return 'The run has no evaluation yet.'
  const tasks = `${last.success.n} held-out tasks`
  if (last === base) return `The base model solves ${percentInterval(base.success)} of ${tasks}.`
  const from = base.success
  const to = last.success
  const way =
    warm === undefined || warm === last
      ? ''
      : `, by way of ${percent(warm.success.mean)} after the warm start`
  if (to.low > from.high) {
    const still = warm !== undefined && warm !== last && to.low <= warm.success.high
    const caveat = still ? '; the part of RL in this is not clear of chance' : ''
    return `Success on ${tasks} rose from ${percentInterval(from)} to ${percentInterval(to)}${way}${caveat}.`
  }
  if (to.high < from.low)
    return `Success on ${tasks} fell from ${percentInterval(from)} to ${percentInterval(to)}${way}.`
  return `No clear change: ${percentInterval(from)} of ${tasks} before, ${percentInterval(to)} after${way}.`
}
