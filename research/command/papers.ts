import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { intervalText } from 'agoge/statistics'
import { paperResult, type PaperResult } from '../runner/paper.ts'
import { renderGallery } from '../runner/gallery.ts'
import { runPaper } from '../runner/run-paper.ts'
import { loadPaper, paperIds, paperWorker, resultOf, resultsFolder } from './papers-folder.ts'

/** What the command line provides to these commands. */
export interface Terminal {
  out: (text: string) => void
  err: (text: string) => void
  signal: AbortSignal
  table: (header: readonly string[], rows: readonly (readonly string[])[]) => string
  describeError: (error: unknown, debug: boolean) => string
  /** Cores, processor and version of Node, for the record. */
  machine: string
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

interface Listed {
  id: string
  theme?: string
  verdict: string
  title?: string
  /** Why it cannot be loaded. */
  error?: string
}

async function listed(id: string, { describeError }: Terminal, folder?: string): Promise<Listed> {
  try {
    const { theme, title } = (await loadPaper(id, folder)).paper
    return { id, theme, verdict: resultOf(id)?.verdict ?? 'not run', title }
  } catch (error) {
    return { id, verdict: 'cannot be loaded', error: describeError(error, false) }
  }
}

export interface RunPaperCommand {
  id: string
  quick?: boolean
  workers?: number
  commandLine: string
}

/** `agoge papers run ID`: runs every arm with every seed and writes verdict and result file. Loads no other paper. */
export async function runPaperCommand(
  command: RunPaperCommand,
  terminal: Terminal,
  folder?: string,
): Promise<void> {
  const { id, quick = false, workers } = command
  const { paper, file } = await loadPaper(id, folder)
  terminal.err(`${paper.title}\n${paper.claim}`)
  const scores = await runPaper(paper, {
    file,
    ...paperWorker,
    quick,
    ...(workers === undefined ? {} : { workers }),
    signal: terminal.signal,
    onScore: ({ arm, seed, score, seconds, left }) =>
      terminal.err(
        `${arm}  seed ${seed}: ${Number(score.toPrecision(5))}  (${seconds.toFixed(1)} s, ${left} to go)`,
      ),
  })
  const result = paperResult(paper, scores, {
    command: command.commandLine,
    date: new Date(),
    machine: terminal.machine,
  })
  terminal.out(resultText(result, terminal))
  if (quick) return terminal.out('a quick run: it shows that the experiment runs, not what comes of it')
  terminal.out(`verdict: ${result.verdict}`)
  mkdirSync(resultsFolder(), { recursive: true })
  const to = join(resultsFolder(), `${id}.json`)
  writeFileSync(to, `${JSON.stringify(result, null, 2)}\n`)
  terminal.out(to)
}

function resultText(result: PaperResult, { table }: Terminal): string {
  const formatNumber = (value: number): string => String(Number(value.toPrecision(4)))
  const arms = Object.entries(result.arms).map(([arm, found]) => [
    arm,
    formatNumber(found.mean),
    intervalText(found, formatNumber),
  ])
  const comparisons = result.comparisons.map(
    ({ better, than, improvement }) =>
      `P(${better} beats ${than}) = ${improvement.mean.toFixed(2)} (${intervalText(improvement, (value) => value.toFixed(2))})`,
  )
  return [
    '',
    `${result.metric}, ${result.higherIsBetter ? 'higher' : 'lower'} is better:`,
    table(['arm', 'interquartile mean', '95% interval'], arms),
    ...comparisons,
  ].join('\n')
}

/** `agoge papers report`: the gallery of all results. */
export function reportPapers({ out }: { out?: string }, terminal: Terminal): void {
  const results = paperIds().flatMap((id) => resultOf(id) ?? [])
  const to = resolve(out ?? join(resultsFolder(), '..', 'gallery.html'))
  writeFileSync(to, renderGallery(results))
  terminal.out(`${to}: ${results.length} papers`)
}
