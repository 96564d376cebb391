import { parseForeignJson } from '../../../untrusted/foreign-json.ts'
import { isRecord } from '../../../untrusted/schema-check.ts'
import { type AgentSetup, setupId } from '../../setup/setup.ts'
import { instructiveExamples } from '../examples.ts'
import type { Lever, LeverContext, Proposal } from '../lever.ts'
import { needsProposer, shortened } from './instructions.ts'

/**
 * Other names and descriptions for the agent's tools. The agent itself and the tools keep their names; only the model sees the others.
 *
 * Source: descriptions as a text that is optimised with the prompt, as in GEPA (arXiv 2507.19457) and in Anthropic's report on writing tools for
 * agents (2025).
 */
export const toolDescriptions: Lever = {
  name: 'tool-descriptions',
  source: 'as GEPA (arXiv 2507.19457)',
  unusable: (context) => (context.tools.length === 0 ? 'the agent offers no tools' : needsProposer(context)),
  async propose(context) {
    const { best, candidates } = context
    const texts = await context.propose({
      lever: 'tool-descriptions',
      count: 4,
      current: JSON.stringify(best.tools ?? {}),
      examples: instructiveExamples(context.trials(best), 5),
    })
    const known = new Set(candidates.map(({ id }) => id))
    return texts.flatMap((text) => {
      const proposal = withTools(best, text, context)
      return proposal === undefined || known.has(setupId(proposal.setup)) ? [] : [proposal]
    })
  },
}

/**
 * A setup with other names and descriptions of tools, from the JSON of a proposal; undefined if it cannot be read or has none. Tools that
 * the agent lacks, names that two tools would have, and names that services refuse are left out.
 */
export function withTools(setup: AgentSetup, text: string, { tools }: LeverContext): Proposal | undefined {
  let given: unknown
  try {
    given = parseForeignJson(text)
  } catch {
    return undefined
  }
  if (!isRecord(given)) return undefined
  const changed: Record<string, { name?: string; description?: string }> = { ...setup.tools }
  for (const [tool, value] of Object.entries(given)) {
    if (!isRecord(value) || !tools.some(({ name }) => name === tool)) continue
    const { name, description } = value
    changed[tool] = {
      ...changed[tool],
      ...(typeof name === 'string' && /^[\w-]{1,64}$/.test(name) && { name }),
      ...(typeof description === 'string' &&
        description.trim() !== '' && { description: description.trim() }),
    }
  }
  const names = tools.map(({ name }) => changed[name]?.name ?? name)
  const unique = names.every((name, at) => names.indexOf(name) === at)
  if (Object.keys(changed).length === 0) return undefined
  return {
    setup: { ...setup, tools: unique ? changed : withoutNames(changed) },
    about: shortened(text),
  }
}

function withoutNames(changed: NonNullable<AgentSetup['tools']>): NonNullable<AgentSetup['tools']> {
  return Object.fromEntries(
    Object.entries(changed).map(([tool, { description }]) => [
      tool,
      { ...(description !== undefined && { description }) },
    ]),
  )
}
