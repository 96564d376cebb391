import { instructiveExamples } from '../examples.ts'
import type { Candidate, Lever, LeverContext, Proposal } from '../lever.ts'
import type { AgentSetup } from '../../setup/setup.ts'

/**
 * Proposes instructions from those that were tried, with what each gained.
 *
 * Source: Yang et al., Large Language Models as Optimizers (OPRO, arXiv 2309.03409).
 */
export const instructions: Lever = {
  name: 'instructions',
  source: 'OPRO (arXiv 2309.03409)',
  unusable: needsProposer,
  async propose(context) {
    const texts = await context.propose({
      lever: 'instructions',
      count: 4,
      current: textOf(context.best) || context.systemText,
      examples: instructiveExamples(context.trials(context.best), 5),
    })
    return newTexts(texts, context.candidates).map((text) => withInstructions(context.best, text, context))
  },
}

/** The reason of levers that need texts. */
export function needsProposer({ hasProposer }: LeverContext): string | undefined {
  return hasProposer ? undefined : 'nothing proposes texts: set optimise.proposer in the config'
}

export const textOf = ({ instructions: given }: AgentSetup): string => given?.text ?? ''

/** A setup with other instructions. They replace the agent's own text. */
export function withInstructions(setup: AgentSetup, text: string, { systemText }: LeverContext): Proposal {
  const replaces = setup.instructions?.replaces ?? systemText
  const given = { text, ...(replaces !== '' && { replaces }) }
  return { setup: { ...setup, instructions: given }, about: shortened(text) }
}

/** Texts that no earlier candidate of the lever has. */
export function newTexts(texts: readonly string[], candidates: readonly Candidate[]): string[] {
  const known = new Set(candidates.map(({ setup }) => textOf(setup)))
  return [...new Set(texts.map((text) => text.trim()))].filter((text) => text !== '' && !known.has(text))
}

export function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > 60 ? `${line.slice(0, 57)}...` : line
}
