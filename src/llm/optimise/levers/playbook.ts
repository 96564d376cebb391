import { sha256 } from '../../../runs/checksums.ts'
import type { PlaybookItem } from '../../setup/setup.ts'
import { instructiveExamples } from '../examples.ts'
import type { Lever } from '../lever.ts'
import { needsProposer, shortened } from './instructions.ts'

/** Lines of a playbook at most. */
const most = 24

/**
 * Grows a list of rules: lessons of failed attempts are added as lines of their own, and what is there is not rewritten. Lines that are there
 * already in other case or spacing are not added.
 *
 * Source: Zhang et al., Agentic Context Engineering (ACE, arXiv 2510.04618). The generator is the agent, the reflector the proposer, the curator
 * these rules; a line is kept only if the tasks show a gain, where the paper counts how often a line helped.
 */
export const playbook: Lever = {
  name: 'playbook',
  source: 'ACE (arXiv 2510.04618)',
  unusable: needsProposer,
  async propose(context) {
    const { best, candidates } = context
    const items = best.playbook ?? []
    if (items.length >= most) return []
    const texts = await context.propose({
      lever: 'playbook',
      count: 4,
      current: items.map(({ text }) => text).join('\n'),
      examples: instructiveExamples(context.trials(best), 5),
    })
    const fresh = newItems(texts, items).filter(
      ({ id }) => !candidates.some(({ setup, gain }) => gain === null && setup.playbook?.at(-1)?.id === id),
    )
    const grown = fresh.map((item) => ({
      setup: { ...best, playbook: [...items, item] },
      about: `+ ${shortened(item.text)}`,
    }))
    // Each lesson alone, and all together: one may spoil the others. Among equals the first counts.
    const all = {
      setup: { ...best, playbook: [...items, ...fresh].slice(0, most) },
      about: `+ ${fresh.length} lines`,
    }
    return fresh.length > 1 ? [...grown, all] : grown
  },
}

/** Lines that a playbook lacks. */
export function newItems(texts: readonly string[], items: readonly PlaybookItem[]): PlaybookItem[] {
  const known = new Set(items.map(({ id }) => id))
  return texts.flatMap((given) => {
    const text = given
      .replace(/^\s*[-*]\s*/, '')
      .replaceAll(/\s+/g, ' ')
      .trim()
    const id = sha256(text.toLowerCase()).slice(0, 8)
    if (text === '' || known.has(id)) return []
    known.add(id)
    return [{ id, text }]
  })
}
