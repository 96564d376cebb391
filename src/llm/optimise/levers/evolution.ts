import { instructiveExamples } from '../examples.ts'
import type { Lever, LeverContext, SetupTrial } from '../lever.ts'
import { needsProposer, newTexts, textOf, withInstructions } from './instructions.ts'

/**
 * Evolves instructions by reflection: a parent is drawn from those that are best at some training task, and changed in the light of its own
 * failures. So a candidate that is best at few tasks, but at those alone, is not lost.
 *
 * Source: Agrawal et al., GEPA: Reflective Prompt Evolution Can Outperform Reinforcement Learning (arXiv 2507.19457), algorithms 1 and 2. Its
 * merging of two candidates is left out.
 */
export const evolution: Lever = {
  name: 'evolution',
  source: 'GEPA (arXiv 2507.19457)',
  unusable: needsProposer,
  async propose(context) {
    const parent = drawParent(context)
    const failures = context.trials(parent).filter(({ record }) => record.success === false)
    if (failures.length === 0) return []
    const from = context.random.int(failures.length)
    const batch = Array.from(
      { length: Math.min(4, failures.length) },
      (_, at) => failures[(from + at) % failures.length],
    )
    const texts = await context.propose({
      lever: 'evolution',
      count: 2,
      current: textOf(parent) || context.systemText,
      examples: instructiveExamples(batch, 4),
    })
    return newTexts(texts, context.candidates).map((text) => withInstructions(parent, text, context))
  },
}

/** Draws a setup by the number of training tasks at which none is better, after those that are worse everywhere have been left out. */
function drawParent(context: LeverContext): LeverContext['best'] {
  const { original, candidates, trials, random } = context
  const pool = [original, ...candidates.filter(({ screened }) => screened !== null).map(({ setup }) => setup)]
  const scores = pool.map((setup) => scoreByTask(trials(setup)))
  const tasks = [...new Set(scores.flatMap((of) => [...of.keys()]))]
  const best = new Map(tasks.map((task) => [task, Math.max(...scores.map((of) => of.get(task) ?? 0))]))
  const front = scores.map((of) => tasks.filter((task) => of.get(task) === best.get(task)))
  const isBeaten = front.map((own, at) =>
    front.some(
      (other, place) =>
        place !== at &&
        (other.length > own.length || (other.length === own.length && place < at)) &&
        own.every((task) => other.includes(task)),
    ),
  )
  const weights = front.map((own, at) => (isBeaten[at] ? 0 : own.length))
  return weights.some((weight) => weight > 0) ? pool[random.weighted(weights)] : context.best
}

function scoreByTask(trials: readonly SetupTrial[]): Map<string, number> {
  return new Map(trials.map(({ task, record }) => [task.id, Number(record.success === true)]))
}
