import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { AgogeError, closestName } from 'agoge'
import { intervalText } from 'agoge/statistics'
import { paperResult } from '../runner/paper.ts'
import type { Paper, PaperResult } from '../runner/paper.ts'
import { type PaperScores, runPaper, type Scored } from '../runner/run-paper.ts'

/** From source, papers and everything else are TypeScript. */
const built = import.meta.url.endsWith('.js')
const ending = built ? '.js' : '.ts'
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

const papersFolder = here('../papers/')

/** The worker module of `runPaper`, and the arguments of Node. */
const paperWorker = {
  worker: here(`../runner/worker${ending}`),
  execArgv: built ? [] : ['--import', 'tsx', '--conditions', 'agoge-source'],
}

/** The papers by id, which is the file name. Loads none of them. */
function paperIds(folder = papersFolder): string[] {
  const names = existsSync(folder) ? readdirSync(folder) : []
  return names
    .filter((name) => name.endsWith(ending) && !name.endsWith(`.test${ending}`))
    .map((name) => name.slice(0, -ending.length))
    .sort()
}

/**
 * Loads one paper and no other.
 *
 * @throws AgogeError for an unknown id, and naming the file if it cannot be loaded or contains another paper.
 */
async function loadPaper(id: string, folder = papersFolder): Promise<{ file: string; paper: Paper }> {
  const ids = paperIds(folder)
  if (!ids.includes(id)) throw unknownPaper(id, ids)
  const file = join(folder, `${id}${ending}`)
  const loaded = await importPaper(file)
  if (loaded.default?.id === id) return { file, paper: loaded.default }
  throw new AgogeError(`${file} holds no paper named "${id}"`, {
    code: 'bad-paper',
    given: loaded.default?.id ?? 'no default export',
    expected: `export default definePaper({ id: '${id}', ... })`,
  })
}

async function importPaper(file: string): Promise<{ default?: Paper }> {
  try {
    return (await import(/* @vite-ignore */ pathToFileURL(file).href)) as { default?: Paper }
  } catch (cause) {
    throw new AgogeError(`${file} cannot be loaded`, {
      code: 'bad-paper',
      given: cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause),
      expected: 'a module whose default export is a paper',
      hint: 'The other papers run nevertheless',
      cause,
    })
  }
}

/** Folder of the results: beside the papers in the repository, otherwise with the runs. */
const resultsFolder = (): string =>
  existsSync(join('research', 'papers', 'results'))
    ? join('research', 'papers', 'results')
    : join('.agoge', 'papers')

/** Result of the last full run; undefined if there was none. */
function resultOf(id: string): PaperResult | undefined {
  const file = join(resultsFolder(), `${id}.json`)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as PaperResult) : undefined
}

function unknownPaper(id: string, ids: readonly string[]): AgogeError {
  const meant = closestName(id, ids)
  return new AgogeError(`There is no paper named "${id}".`, {
    code: 'unknown-paper',
    given: id,
    expected: ids.length === 0 ? 'papers beside the built program' : `one of ${ids.join(', ')}`,
    ...(meant === undefined ? {} : { hint: `Did you mean "${meant}"?` }),
  })
}

/** What the command line provides to these commands. */
export interface Terminal {
  out: (text: string) => void
  err: (text: string) => void
  signal: AbortSignal
  table: (header: readonly string[], rows: readonly (readonly string[])[]) => string
  describeError: (error: unknown, debug: boolean) => string
  /** Keeps scores while a run works. */
  keepLines: (file: string, of: object, options: { resume: boolean }) => KeptLines
  /** Writes a file that is either complete or unchanged. */
  writeWhole: (file: string, text: string) => void
  /** Cores, processor and version of Node, for the record. */
  machine: string
}

interface KeptLines {
  earlier: readonly Readonly<Record<string, unknown>>[]
  keep: (line: object) => void
  remove: () => void
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

interface RunPaperCommand {
  id: string
  quick?: boolean
  workers?: number
  /** The result file. Default: `ID.json` in the folder of the results. */
  out?: string
  /** Goes on with the scores that a stopped call kept. */
  resume?: boolean
  commandLine: string
}

/**
 * `agoge papers run ID`: runs every arm with every seed and writes verdict and result file. Loads no other paper. While it runs, scores are
 * kept in `ID.partial.jsonl` beside the result.
 */
export async function runPaperCommand(
  command: RunPaperCommand,
  terminal: Terminal,
  folder?: string,
): Promise<void> {
  const { id, quick = false, resume = false } = command
  const needless = [resume ? '--resume' : '', command.out === undefined ? '' : '--out'].find(Boolean)
  if (quick && needless !== undefined)
    throw new AgogeError('a quick run keeps nothing', {
      code: 'bad-option',
      given: `--quick and ${needless}`,
      expected: `one of both: ${needless} is of a whole run`,
    })
  const { paper, file } = await loadPaper(id, folder)
  terminal.err(`${paper.title}\n${paper.claim}`)
  const to = command.out ?? join(resultsFolder(), `${id}.json`)
  const kept = quick ? undefined : openScores({ paper, file, to, resume }, terminal)
  const scores = await scoreArms({ paper, file, kept, command }, terminal)
  const result = paperResult(paper, scores, {
    command: command.commandLine.replace(' --resume', ''),
    date: new Date(),
    machine: terminal.machine,
  })
  terminal.out(resultText(result, terminal))
  if (quick) return terminal.out('a quick run: it shows that the experiment runs, not what comes of it')
  terminal.out(`verdict: ${result.verdict}`)
  terminal.writeWhole(to, `${JSON.stringify(result, null, 2)}\n`)
  kept?.remove()
  terminal.out(to)
}

interface PlacedPaper {
  paper: Paper
  /** Its module. */
  file: string
}

/** Opens the file of the scores that are kept. Scores of other code, seeds or budgets are refused. */
function openScores(
  { paper, file, to, resume }: PlacedPaper & { to: string; resume: boolean },
  terminal: Terminal,
): KeptLines {
  const { id, seeds, budget } = paper
  const module = createHash('sha256').update(readFileSync(file)).digest('hex')
  const of = { schema: 1, id, seeds, arms: Object.keys(paper.arms), budget, module: module.slice(0, 16) }
  const kept = terminal.keepLines(`${to.replace(/\.json$/, '')}.partial.jsonl`, of, { resume })
  if (resume)
    terminal.err(
      kept.earlier.length === 0
        ? 'no scores were kept: it begins anew'
        : `${kept.earlier.length} of ${seeds * of.arms.length} scores were kept`,
    )
  return kept
}

async function scoreArms(
  { paper, file, kept, command }: PlacedPaper & { kept: KeptLines | undefined; command: RunPaperCommand },
  terminal: Terminal,
): Promise<PaperScores> {
  const { quick = false, workers } = command
  try {
    return await runPaper(paper, {
      file,
      ...paperWorker,
      quick,
      ...(workers === undefined ? {} : { workers }),
      done: (kept?.earlier ?? []).map(asScored),
      signal: terminal.signal,
      onScore({ left, ...scored }) {
        kept?.keep(scored)
        const { arm, seed, score, seconds } = scored
        terminal.err(
          `${arm}  seed ${seed}: ${Number(score.toPrecision(5))}  (${seconds.toFixed(1)} s, ${left} to go)`,
        )
      },
    })
  } catch (error) {
    if (kept !== undefined) terminal.err(`to go on: ${command.commandLine.replace(' --resume', '')} --resume`)
    throw error
  }
}

const asScored = ({ arm, seed, score, seconds }: Readonly<Record<string, unknown>>): Scored => ({
  arm: String(arm),
  seed: Number(seed),
  score: Number(score),
  seconds: Number(seconds),
})

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

/** One self-contained page with the claim, the verdict and the scores of every paper that has a result. */
export function renderGallery(results: readonly PaperResult[]): string {
  const counts = ['reproduced', 'not reproduced', 'inconclusive'].map(
    (verdict) => `${results.filter((result) => result.verdict === verdict).length} ${verdict}`,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Agoge: papers</title>
<style>${style}</style>
</head>
<body>
<h1>Papers</h1>
<p>${results.length} experiments: ${counts.join(', ')}. Every dot is a run with a seed of its own; the bar is the interquartile
mean with its 95% bootstrap interval.</p>
${results.map(section).join('\n')}
</body>
</html>
`
}

function section(result: PaperResult): string {
  const { better } = result.comparisons[0] ?? { better: '' }
  const total = Object.values(result.seconds).reduce((sum, seconds) => sum + seconds, 0)
  return `<section id="${escape(result.id)}">
<h2>${escape(result.title)} <span class="${result.verdict.replace(' ', '-')}">${result.verdict}</span></h2>
<p>${escape(result.claim)}</p>
${plot(result)}
<p class="small">${escape(result.metric)}, ${result.higherIsBetter ? 'higher' : 'lower'} is better. ${result.comparisons
    .map(
      ({ than, improvement }) =>
        `P(${escape(better)} beats ${escape(than)}) = ${improvement.mean.toFixed(2)} (${intervalText(improvement, (value) => value.toFixed(2))})`,
    )
    .join('; ')}.</p>
${result.simplifications.map((text) => `<p class="small">Simplification: ${escape(text)}.</p>`).join('\n')}
<p class="small"><code>${escape(result.command)}</code>, ${result.date}, ${escape(result.machine)}, ${(total / 60).toFixed(1)} minutes of computing.</p>
</section>`
}

function plot({ scores, arms }: PaperResult): string {
  const all = Object.values(scores).flat()
  const low = Math.min(...all)
  const span = Math.max(...all) - low || 1
  const x = (value: number): string => (190 + (480 * (value - low)) / span).toFixed(1)
  const rows = Object.entries(scores).map(([arm, runs], i) => {
    const y = 20 + i * 28
    const estimate = arms[arm]
    return `<text x="180" y="${y + 4}" text-anchor="end">${escape(arm)}</text>
${estimate.low === null ? '' : `<line x1="${x(estimate.low)}" x2="${x(estimate.high)}" y1="${y}" y2="${y}" class="interval"/>`}
<line x1="${x(estimate.mean)}" x2="${x(estimate.mean)}" y1="${y - 8}" y2="${y + 8}" class="mean"/>
${runs.map((score) => `<circle cx="${x(score)}" cy="${y}" r="3"/>`).join('')}
<text x="690" y="${y + 4}">${number(estimate.mean)} (${intervalText(estimate, number)})</text>`
  })
  return `<svg viewBox="0 0 860 ${16 + rows.length * 28}" role="img">${rows.join('\n')}</svg>`
}

const number = (value: number): string =>
  Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 1 ? value.toFixed(2) : value.toFixed(3)

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const style = `
:root { color-scheme: light dark; --ink: #1d2733; --soft: #667; --line: #2a6fdb; --dot: #2a6fdb66; --page: #fff }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #9aa; --line: #7fb0ff; --dot: #7fb0ff77; --page: #14181d } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 880px; margin: 2rem auto; padding: 0 1rem }
h2 { font-size: 1.1rem; margin: 2rem 0 0.3rem } h2 span { font-size: 0.75rem; padding: 0.1rem 0.5rem; border-radius: 1rem; color: #fff }
.reproduced { background: #1a7f45 } .not-reproduced { background: #b3362b } .inconclusive { background: #8a6d1a }
svg { width: 100% } svg text { font-size: 12px; fill: var(--ink) } circle { fill: var(--dot) }
.interval { stroke: var(--line); stroke-width: 6; stroke-opacity: 0.35 } .mean { stroke: var(--line); stroke-width: 2 }
.small { font-size: 0.85rem; color: var(--soft); margin: 0.2rem 0 }
`
