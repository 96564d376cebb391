import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { AgogeError } from '../error.ts'
import { paperResult, renderGallery, runPaper } from '../evaluation/index.ts'
import type { Paper, PaperResult } from '../evaluation/index.ts'
import { nearest } from '../tool/index.ts'
import { machine } from '../training/machine.ts'
import type { Console } from './console.ts'
import { table } from './table.ts'

/** Papers are built into the program; run from source, they are those of the repository, and so is all else. */
const built = import.meta.url.endsWith('.js')
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const folder = here(built ? '../papers/' : '../../papers/')
const worker = here(`../evaluation/papers/worker${built ? '.js' : '.ts'}`)
const execArgv = built ? [] : ['--import', 'tsx', '--conditions', 'agoge-source']
const isPaper = (name: string): boolean =>
  built ? name.endsWith('.js') : name.endsWith('.ts') && !name.endsWith('.test.ts')

/** Where results lie: beside the papers in the repository, else with the runs. */
const resultsFolder = (): string =>
  existsSync(join('papers', 'results')) ? join('papers', 'results') : join('.agoge', 'papers')

interface Listed {
  file: string
  paper: Paper
}

async function allPapers(): Promise<Listed[]> {
  const names = existsSync(folder) ? readdirSync(folder).filter(isPaper) : []
  return Promise.all(
    names.sort().map(async (name) => {
      const file = join(folder, name)
      const { default: paper } = (await import(pathToFileURL(file).href)) as { default: Paper }
      return { file, paper }
    }),
  )
}

function resultOf(id: string): PaperResult | undefined {
  const file = join(resultsFolder(), `${id}.json`)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as PaperResult) : undefined
}

/** `agoge papers list`: id, theme, verdict, claim. */
export async function listPapers({ json = false }: { json?: boolean }, terminal: Console): Promise<void> {
  const papers = (await allPapers()).map(({ paper }) => ({
    id: paper.id,
    theme: paper.theme,
    verdict: resultOf(paper.id)?.verdict ?? 'not run',
    title: paper.title,
  }))
  if (json) return terminal.out(JSON.stringify(papers, null, 2))
  terminal.out(
    table(
      ['paper', 'theme', 'verdict'],
      papers.map(({ id, theme, verdict }) => [id, theme, verdict]),
    ),
  )
}

export interface RunPaperCommand {
  id: string
  quick?: boolean
  workers?: number
  commandLine: string
}

/** `agoge papers run ID`: every arm with every seed, the verdict, and a result file. */
export async function runPaperCommand(command: RunPaperCommand, terminal: Console): Promise<void> {
  const { id, quick = false, workers } = command
  const papers = await allPapers()
  const found = papers.find(({ paper }) => paper.id === id)
  if (found === undefined) throw unknownPaper(id, papers)
  const { paper, file } = found
  terminal.err(`${paper.title}\n${paper.claim}`)
  const scores = await runPaper(paper, {
    file,
    worker,
    execArgv,
    quick,
    ...(workers === undefined ? {} : { workers }),
    signal: terminal.signal,
    onScore: ({ arm, seed, score, seconds, left }) =>
      terminal.err(
        `${arm}  seed ${seed}: ${Number(score.toPrecision(5))}  (${seconds.toFixed(1)} s, ${left} to go)`,
      ),
  })
  const { cpu, cores, node } = machine()
  const result = paperResult(paper, scores, {
    command: command.commandLine,
    date: new Date(),
    machine: `${cores} cores of ${cpu}, Node ${node}`,
  })
  terminal.out(resultText(result))
  if (quick) return terminal.out('a quick run: it shows that the experiment runs, not what comes of it')
  terminal.out(`verdict: ${result.verdict}`)
  mkdirSync(resultsFolder(), { recursive: true })
  const to = join(resultsFolder(), `${id}.json`)
  writeFileSync(to, `${JSON.stringify(result, null, 2)}\n`)
  terminal.out(to)
}

function resultText(result: PaperResult): string {
  const figure = (value: number): string => String(Number(value.toPrecision(4)))
  const arms = Object.entries(result.arms).map(([arm, { mean, low, high }]) => [
    arm,
    figure(mean),
    `${figure(low)} to ${figure(high)}`,
  ])
  const comparisons = result.comparisons.map(
    ({ better, than, improvement: { mean, low, high } }) =>
      `P(${better} beats ${than}) = ${mean.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`,
  )
  return [
    '',
    `${result.metric}, ${result.higherIsBetter ? 'higher' : 'lower'} is better:`,
    table(['arm', 'interquartile mean', '95% interval'], arms),
    ...comparisons,
  ].join('\n')
}

/** `agoge papers report`: the gallery of all results. */
export async function reportPapers({ out }: { out?: string }, terminal: Console): Promise<void> {
  const results = (await allPapers()).flatMap(({ paper }) => resultOf(paper.id) ?? [])
  const to = resolve(out ?? join(resultsFolder(), '..', 'gallery.html'))
  writeFileSync(to, renderGallery(results))
  terminal.out(`${to}: ${results.length} papers`)
}

function unknownPaper(id: string, papers: readonly Listed[]): AgogeError {
  const ids = papers.map(({ paper }) => paper.id)
  const meant = nearest(id, ids)
  return new AgogeError(`There is no paper named "${id}".`, {
    code: 'unknown-paper',
    given: id,
    expected: ids.length === 0 ? 'papers beside the built program' : `one of ${ids.join(', ')}`,
    ...(meant === undefined ? {} : { hint: `Did you mean "${meant}"?` }),
  })
}
