import { count, percent } from '../../runs/report/format.ts'
import { evaluationNotes, evaluationTable } from '../project/evaluation-text.ts'
import type { LeverOutcome, OptimisePlan, OptimiseResult } from './optimise.ts'

/** What a search would do, one line each. */
export function planText({
  train,
  selection,
  test,
  trials,
  budget,
  leastTrials,
  levers,
  model,
  training,
}: OptimisePlan): string[] {
  const most = [
    ...(budget.dollars === undefined ? [] : [`$${budget.dollars}`]),
    ...(budget.tokens === undefined ? [] : [`${budget.tokens} tokens`]),
  ].join(' and ')
  return [
    `${train} tasks to learn from, ${selection} to choose by, ${test} for the test at the end; ${trials === 1 ? 'one trial' : `${trials} trials`} each`,
    `model: ${model}`,
    `at least ${leastTrials} trials: of the agent as it is, and of both at the end; the rest of the budget is for the search`,
    `at most ${most} are spent`,
    `levers: ${levers.map(({ name }) => name).join(', ')}`,
    ...(training === undefined ? [] : [training]),
  ]
}

/** The levers as a table: what was tried, and what came of it on the selection tasks. */
export function leverTable({ levers, unit }: OptimiseResult): { header: string[]; rows: string[][] } {
  return {
    header: ['lever', 'tried', 'gain', unit],
    rows: levers
      .filter(({ tried }) => tried > 0)
      .map(({ name, tried, gain, spent }) => [
        name,
        String(tried),
        points(gain),
        unit === 'dollars' ? spent.toPrecision(2) : count(Math.round(spent)),
      ]),
  }
}

/** Levers that were not used, by the reason. */
export function unusedLevers({ levers }: OptimiseResult): string[] {
  const unused = levers.filter(({ tried }) => tried === 0)
  const reasons = [...new Set(unused.map(({ note = 'nothing was proposed' }) => note))]
  return reasons.map((reason) => {
    const names = unused
      .filter(({ note = 'nothing was proposed' }) => note === reason)
      .map(({ name }) => name)
    return `${names.join(', ')}: ${reason}`
  })
}

/** What was found, and whether the test shows it. */
export function resultText(result: OptimiseResult): string[] {
  const { best, test, isShown, before, stopped, tasks } = result
  if (best === null)
    return [
      `nothing was found that gains on the ${tasks.selection} selection tasks (${percent(before)} as it is): ${stopped}`,
    ]
  const found = `best on the ${tasks.selection} selection tasks: ${best.about} (${best.lever}), ${points(best.gain)} from ${percent(before)}; ${stopped}`
  if (test === null) return [found, 'it was not tried on the test tasks, so no gain is reported']
  const shown = isShown
    ? `a gain is shown on the ${tasks.test} test tasks`
    : `no gain is shown on the ${tasks.test} test tasks; the agent should stay as it is`
  return [found, shown, ...evaluationNotes(test)]
}

/** The test as a table. */
export const testTable = ({ test }: OptimiseResult): ReturnType<typeof evaluationTable> | undefined =>
  test === null ? undefined : evaluationTable(test)

/** A lever that ended, in one line. */
export const leverText = ({ name, tried, gain, note = '' }: LeverOutcome): string =>
  tried === 0 ? `${name}: ${note}` : `${name}: ${tried} tried, ${points(gain)}; ${note}`

export const points = (gain: number): string => `${gain >= 0 ? '+' : ''}${(100 * gain).toFixed(1)} points`
