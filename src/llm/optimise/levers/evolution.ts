import { type AgentSetup, setupId } from '../../setup/setup.ts'
import { instructiveExamples } from '../examples.ts'
import type { Lever, LeverContext, Proposal } from '../lever.ts'
import { needsProposer, newTexts, textOf, withInstructions } from './instructions.ts'
import { scoreByTask } from '../setup-trials.ts'
import { mergeSetups, type ScoredSetup } from './merge.ts'
import { withTools } from './tool-descriptions.ts'

/** Merges of one search, as in the paper's code. */
const mostMerges = 5

/**
 * Evolves the instructions and the descriptions of tools by reflection: a parent is drawn from the setups that are best at some training
 * task, and one of its components, in turn, is changed in the light of its own failures. So a candidate that is best at few tasks, but at
 * those alone, is not lost. Two such candidates that have changed different components are merged into one, at most five times.
 *
 * An agent without tools has the instructions alone; with one component there is nothing that a merge could join.
 *
 * Source: Agrawal et al., GEPA: Reflective Prompt Evolution Can Outperform Reinforcement Learning (arXiv 2507.19457), algorithms 1 and 2, and
 * the merge of appendix F. The ancestor of a merge is the agent's own setup, of which all candidates come, rather than the nearest one.
 */
export const evolution: Lever = {
  name: 'evolution',
  source: 'GEPA (arXiv 2507.19457)',
  unusable: needsProposer,
  async propose(context) {
    const front = frontOf(context)
    const merged = mergeOf(context, front)
    const parent =
      front.length > 0
        ? front[context.random.weighted(front.map(({ tasks }) => tasks.length))].setup
        : context.best
    return [...(merged === undefined ? [] : [merged]), ...(await reflect(context, parent))]
  },
}

/** Changes of one component of a setup that its failures suggest. None if it has not failed. */
async function reflect(context: LeverContext, parent: AgentSetup): Promise<Proposal[]> {
  const failures = context.trials(parent).filter(({ record }) => record.success === false)
  if (failures.length === 0) return []
  const from = context.random.int(failures.length)
  const batch = Array.from(
    { length: Math.min(4, failures.length) },
    (_, at) => failures[(from + at) % failures.length],
  )
  const request = { count: 2, examples: instructiveExamples(batch, 4) }
  if (context.tools.length > 0 && context.round % 2 === 1) {
    const current = JSON.stringify(parent.tools ?? {})
    const texts = await context.propose({ lever: 'tool-descriptions', current, ...request })
    const proposals = texts.flatMap((text) => {
      const proposal = withTools(parent, text, context)
      return proposal === undefined || isKnown(proposal.setup, context) ? [] : [proposal]
    })
    // No proposal at all would end the lever, though the instructions may still be changed.
    if (proposals.length > 0) return proposals
  }
  const current = textOf(parent) || context.systemText
  const texts = await context.propose({ lever: 'evolution', current, ...request })
  return newTexts(texts, context.candidates).map((text) => withInstructions(parent, text, context))
}

const isKnown = (setup: AgentSetup, { candidates }: LeverContext): boolean =>
  candidates.some(({ id }) => id === setupId(setup))

interface FrontSetup extends ScoredSetup {
  /** Training tasks at which no other is better. */
  tasks: readonly string[]
}

/** The setups at least as good as every other at some training task, without those that another one beats or equals in all of theirs. */
function frontOf({ original, candidates, trials }: LeverContext): FrontSetup[] {
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
  return pool.flatMap((setup, at) => {
    const values = [...scores[at].values()]
    const score = values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
    return isBeaten[at] || front[at].length === 0 ? [] : [{ setup, score, tasks: front[at] }]
  })
}

const mergeLabel = 'merged: '

/** Two setups of the front, merged: the first pair, in an order drawn by chance, that can be and has not been. */
function mergeOf(context: LeverContext, front: readonly FrontSetup[]): Proposal | undefined {
  const { original, candidates, random } = context
  if (candidates.filter(({ about }) => about.startsWith(mergeLabel)).length >= mostMerges) return undefined
  const pairs = front.flatMap((first, at) => front.slice(at + 1).map((second) => [first, second] as const))
  for (let left = pairs.length; left > 0; left--) {
    const [[first, second]] = pairs.splice(random.int(left), 1)
    const setup = mergeSetups(first, second, original)
    if (setup === undefined || isKnown(setup, context)) continue
    return { setup, about: `${mergeLabel}${setupId(first.setup)} and ${setupId(second.setup)}` }
  }
  return undefined
}
