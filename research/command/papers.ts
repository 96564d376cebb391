import { resolve } from 'node:path'
import { renderGallery } from './gallery.ts'
import { galleryFile, loadPaper, paperIds, stateOf } from './places.ts'
import type { Terminal } from './terminal.ts'

export { planPaperCommand } from './plan.ts'
export { runPaperCommand } from './run.ts'

interface Listed {
  id: string
  theme?: string
  /** The verdict, or why there is none. */
  verdict: string
  title?: string
  /** Why it cannot be loaded. */
  error?: string
}

/** `agoge papers list`: id, theme, verdict. Names papers that cannot be loaded and lists the others. */
export async function listPapers(
  { json = false }: { json?: boolean },
  terminal: Terminal,
  folder?: string,
): Promise<void> {
  const papers = await Promise.all(paperIds(folder).map((id) => listed(id, terminal, folder)))
  if (json) return terminal.out(JSON.stringify(papers, null, 2))
  terminal.out(
    terminal.table(
      ['paper', 'theme', 'verdict'],
      papers.map(({ id, theme, verdict }) => [id, theme ?? '–', verdict]),
    ),
  )
  for (const { error } of papers) if (error !== undefined) terminal.err(error)
}

async function listed(id: string, { describeError }: Terminal, folder?: string): Promise<Listed> {
  try {
    const { theme, title } = (await loadPaper(id, folder)).paper
    return { id, theme, verdict: stateOf(id).text, title }
  } catch (error) {
    return { id, verdict: 'cannot be loaded', error: describeError(error, false) }
  }
}

/** `agoge papers report`: the gallery of all results that count under their plans, and how many papers have none. */
export function reportPapers({ out }: { out?: string }, terminal: Terminal): void {
  const states = paperIds().map((id) => stateOf(id))
  const shown = states.flatMap(({ plan, result }) =>
    plan === undefined || result === undefined ? [] : [{ plan, result }],
  )
  const count = (start: string): number => states.filter(({ text }) => text.startsWith(start)).length
  const left = {
    notPlanned: count('not planned'),
    notRun: states.filter(({ text }) => text === 'planned').length,
    outOfDate: count('out of date'),
  }
  const to = resolve(out ?? galleryFile())
  terminal.writeWhole(to, renderGallery(shown, left))
  terminal.out(`${to}: ${shown.length} papers`)
}
