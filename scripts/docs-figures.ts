// npm run docs:figures -- [--from RUN_FOLDER]: writes the figures of the main job in README.md and docs/results/main-job.md, and the
// picture of its report, all from one run.
//
// To replace that run, run `npm start -- --seed 1 --compare-supervised` alone on the machine, then this command with the run's folder.
// It copies summary.json and report.html to docs/results/main-job/, without paths of the machine, rewrites the text between the
// markers of both pages, and takes a screenshot of the report with Chromium (CHROMIUM=PATH, or one on the PATH). Commit all of it;
// docs/figures.test.ts fails if the files do not match. Without --from, it rewrites the pages from the committed run.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { algorithmTables, withTables } from './docs-algorithms.ts'
import type { Estimate } from '../src/statistics/statistics.ts'
import { duration, percentInterval, pointsInterval } from '../src/runs/report/format.ts'
import { stageTitles } from '../src/llm/training/report/sections.ts'
import type { StageSummary, TrainingSummary } from '../src/llm/training/types.ts'

const inRepository = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url))
const data = 'docs/results/main-job'
const picture = 'docs/images/report.png'
/** The pages and the functions that write their figures. */
export const pages = {
  'README.md': readmeFigures,
  'docs/results/main-job.md': pageFigures,
  'docs/results/benchmarks.md': benchmarkFigures,
  'docs/guides/main-job.md': budgetFigures,
} as const

const [opening, closing] = ['<!-- figures: npm run docs:figures -->', '<!-- end of figures -->']

/** The text of a page with the figures of a run between its markers. */
export function withMetrics(text: string, metrics: string): string {
  const [from, to] = [text.indexOf(opening), text.indexOf(closing)]
  if (from < 0 || to < from) throw new Error(`a page has no line "${opening}" followed by "${closing}"`)
  return `${text.slice(0, from)}${opening}\n\n${metrics}\n\n${text.slice(to)}`
}

/** The committed run. */
export function readRun(): { summary: TrainingSummary; report: string } {
  const read = (file: string): string => readFileSync(inRepository(`${data}/${file}`), 'utf8')
  return { summary: JSON.parse(read('summary.json')) as TrainingSummary, report: read('report.html') }
}

export const sha256 = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex')

/** The input and output of the picture, as in `picture.json`. */
export const pictureHashes = (report: string): { report: string; picture: string } => ({
  report: sha256(report),
  picture: sha256(readFileSync(inRepository(picture))),
})

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
const table = (header: readonly string[], ...rows: (readonly string[])[]): string =>
  [header, header.map(() => '---'), ...rows].map(row).join('\n')

function stageOf({ stages }: TrainingSummary, name: StageSummary['name']): StageSummary {
  const found = stages.find((stage) => stage.name === name)
  if (found === undefined) throw new Error(`the run has no stage "${name}": train with --compare-supervised`)
  return found
}

const whole = (share: number): string => `${(100 * share).toFixed(0)}%`
const tenths = ({ mean, low, high }: Estimate): string =>
  `${(100 * mean).toFixed(1)}% (${(100 * low).toFixed(1)}–${(100 * high).toFixed(1)})`

function weakestOf({ kinds }: StageSummary): [name: string, share: number] {
  return Object.entries(kinds).toSorted(([, a], [, b]) => a - b)[0]
}

const gainOf = ({ gain }: TrainingSummary): string => (gain === undefined ? '–' : pointsInterval(gain))

/** The committed measurements of `npm run bench`. */
interface Bench {
  date: string
  command: string
  machine: string
  peers: string
  results: {
    name: string
    ours: number
    peer: number
    unit: string
    ratio: number
    scores?: [number, number]
  }[]
}

const readBench = (): Bench =>
  JSON.parse(readFileSync(inRepository('docs/results/bench.json'), 'utf8')) as Bench

/** A setting of the committed comparison with equal budgets (`npm run comparison`). */
interface ComparedSetting {
  setting: string
  /** Seeds that have every arm. */
  complete: number[]
  rows: {
    arm: string | null
    mixture: string
    success: { known: Estimate; paraphrased: Estimate; heldOutKinds: Estimate }
    cost: { calls: number; minutes: number }
    steps: number
  }[]
  differences: { a: string; b: string; mixture: string; on: { known: Estimate } }[]
}

/** A setting of the comparison, with the common mixture: the number of its seeds, the row of an arm (null for the warm start), and
 * differences on known kinds. */
function readComparison(setting: 'filesystem' | 'memory' | 'chains'): {
  seeds: number
  of: (arm: string | null) => ComparedSetting['rows'][number]
  difference: (a: string, b: string) => Estimate
} {
  const text = readFileSync(inRepository('docs/results/comparison.json'), 'utf8')
  const found = (JSON.parse(text) as ComparedSetting[]).find((one) => one.setting === setting)
  const isCommon = ({ mixture }: { mixture: string }): boolean => mixture === 'common'
  return {
    seeds: found?.complete.length ?? 0,
    of(arm) {
      const row = found?.rows.filter(isCommon).find((one) => one.arm === arm)
      if (row === undefined) throw new Error(`docs/results/comparison.json: ${setting} has no arm ${arm}`)
      return row
    },
    difference(a, b) {
      const pair = found?.differences.filter(isCommon).find((one) => one.a === a && one.b === b)
      if (pair === undefined)
        throw new Error(`docs/results/comparison.json: ${setting} has no ${a} less ${b}`)
      return pair.on.known
    },
  }
}

/** What the arms of the comparison reach on the filesystem. */
function comparedRow(): string[] {
  const { seeds, of } = readComparison('filesystem')
  const known = (arm: string | null): string => percentInterval(of(arm).success.known)
  return [
    `equal computing from a weaker warm start, ${known(null)}, over ${seeds} seeds ([comparison](docs/results/comparison.md)): new demonstrations, of an expert that costs nothing; half of it so, half reinforcement learning; the old demonstrations again; rejection sampling; reinforcement learning alone`,
    ['fresh', 'fresh-rl', 'same', 'rejection', 'rl'].map(known).join('; '),
  ]
}

/** The comparison as a user of the main job needs it. */
function budgetFigures(): string {
  return `On the filesystem:

${armsTable('filesystem')}

On another server, \`memory\`, a knowledge graph with tasks that are made of its tools:

${armsTable('memory')}

${turnFigures()}`
}

/** What the arms reach on one server, in the order of the success on the filesystem. */
function armsTable(setting: 'filesystem' | 'memory'): string {
  const { seeds, of } = readComparison(setting)
  const ways = [
    [null, 'the weaker warm start itself'],
    ['fresh', 'supervised learning on new demonstrations in every batch'],
    ['fresh-rl', 'half of the budget so, then reinforcement learning'],
    ['same', 'supervised learning on the demonstrations of the warm start'],
    ['rejection', 'rejection sampling: supervised learning on own attempts that succeeded'],
    ['rl', 'reinforcement learning'],
  ] as const
  return table(
    [
      `means over ${seeds} seeds`,
      'held-out tasks of trained kinds',
      'unseen paraphrases',
      'kinds never trained',
      'steps',
      'tool calls',
      'minutes',
    ],
    ...ways.map(([arm, about]) => {
      const { success, steps, cost } = of(arm)
      const spent =
        arm === null ? ['', '', ''] : [steps.toFixed(0), cost.calls.toFixed(0), cost.minutes.toFixed(1)]
      const { known, paraphrased, heldOutKinds } = success
      return [about, ...[known, paraphrased, heldOutKinds].map(percentInterval), ...spent]
    }),
  )
}

/** What an advantage for each turn adds on long requests. */
function turnFigures(): string {
  const { seeds, of, difference } = readComparison('chains')
  const known = (arm: string | null): string => percentInterval(of(arm).success.known)
  return `On requests for four to eight new folders at once, over ${seeds} seeds, a warm start with 100 demonstrations a kind solves ${known(null)}. Reinforcement learning with one advantage for the whole episode reaches
${known('outcome')}; with another for each turn besides (GiGPO) ${known('turns')}, a difference of ${pointsInterval(difference('turns', 'outcome'))}.`
}

function readmeFigures(summary: TrainingSummary): string {
  const show = (name: StageSummary['name']): string => percentInterval(stageOf(summary, name).success)
  const ratio = (name: string): string => {
    const found = readBench().results.find((result) => result.name === name)
    if (found === undefined) throw new Error(`docs/results/bench.json has no result "${name}"`)
    return `${found.ratio.toFixed(found.ratio < 10 ? 2 : 0)}×`
  }
  const rl = stageOf(summary, 'rl')
  const [kind, share] = weakestOf(rl)
  const unseen =
    summary.unseenParaphrases === undefined
      ? ''
      : `. On requests that people worded as none of training it reaches ${paraphrases(summary.unseenParaphrases)}`
  return `${table(
    ['measured on two cores', 'result'],
    [
      `success on ${rl.success.n} held-out file tasks: base model; after the warm start (supervised, on demonstrations)`,
      `${show('base')}; ${show('warm-start')}`,
    ],
    ['after reinforcement learning', `**${show('rl')}**`],
    comparedRow(),
    ['speed of sampling, compared with `transformers` `generate`', ratio('sampling')],
    ['speed of a GRPO step, compared with TRL', ratio('grpo-step')],
    [
      'speed of a training step, compared with PyTorch (of a model of 25M parameters)',
      `${ratio('train-step')} (${ratio('train-step-25M')})`,
    ],
  )}

Intervals are 95% intervals. The first two rows and what follows are of [the run in the picture](docs/results/main-job.md) (\`${summary.command}\`). Its trained model is
weakest on \`${kind}\` tasks (${whole(share)})${unseen}. For the speeds, Agoge and its peer took turns on the same two cores ([benchmarks](docs/results/benchmarks.md)).`
}

function benchmarkFigures(): string {
  const { date, command, machine, peers, results } = readBench()
  const short = (value: number): string => {
    if (value >= 1e6) return `${(value / 1e6).toPrecision(3)}M`
    return value >= 1e3 ? `${(value / 1e3).toPrecision(3)}k` : value.toPrecision(3)
  }
  return `\`${command}\` on ${machine}, ${date}, against ${peers}:

${table(
  ['benchmark', 'Agoge', 'peer', 'ratio', 'scores, Agoge and peer'],
  ...results.map(({ name, ours, peer, unit, ratio, scores }) => [
    `\`${name}\``,
    `${short(ours)} ${unit}`,
    short(peer),
    ratio.toFixed(2),
    scores?.join(', ') ?? '',
  ]),
)}`
}

/** "63% (57-69): 76% (68-82) in new sentences, 49% (40-57) in new words". */
function paraphrases({ success, groups = {} }: NonNullable<TrainingSummary['unseenParaphrases']>): string {
  const each = Object.entries(groups).map(([name, estimate]) => `${percentInterval(estimate)} in ${name}`)
  return `${percentInterval(success)}${each.length === 0 ? '' : `: ${each.join(', ')}`}`
}

function pageFigures(summary: TrainingSummary): string {
  const { stages, machine, seconds, demonstrations, unseenParaphrases } = summary
  const [rl, supervised] = [stageOf(summary, 'rl'), stageOf(summary, 'supervised')]
  const own = seconds - supervised.seconds - supervised.evaluationSeconds
  return `\`${summary.command}\` on ${machine.cores} cores (${machine.cpu}), Node ${machine.node}; ${rl.success.n} held-out tasks a stage, greedy, 95%
Wilson intervals. It took ${duration(own)} without the compared arm.

${table(
  ['stage', 'success', 'calls', 'invalid calls', 'tokens', 'masked', 'training'],
  ...stages.map((stage) => [
    stageTitles[stage.name],
    tenths(stage.success),
    stage.calls.toFixed(2),
    `${(100 * stage.invalidCalls).toFixed(1)}%`,
    stage.tokens.toFixed(1),
    String(stage.masked),
    stage.seconds === 0 ? '–' : duration(stage.seconds),
  ]),
)}

Reinforcement learning less continued supervision, paired by task: ${gainOf(summary)}.${
    unseenParaphrases === undefined ? '' : ` Unseen paraphrases: ${paraphrases(unseenParaphrases)}.`
  }

${table(
  ['kind', 'demonstrations', ...stages.map(({ name }) => stageTitles[name])],
  ...Object.keys(rl.kinds).map((kind) => [
    kind,
    String(demonstrations[kind] ?? 0),
    ...stages.map(({ kinds }) => `${(100 * kinds[kind]).toFixed(1)}%`),
  ]),
)}

[summary.json](main-job/summary.json) and [report.html](main-job/report.html) are that run's own; [the picture](../images/report.png) is of that report.`
}

/** Copies the parts of a run that the pages need, without paths of its machine. */
function adopt(folder: string): void {
  const [summary, report] = ['summary.json', 'report.html'].map((file) =>
    readFileSync(join(folder, file), 'utf8'),
  )
  const { command, model } = JSON.parse(summary) as TrainingSummary
  const out = /--(?:out|resume)[ =]\S+/.exec(command)?.[0]
  const clean = (text: string): string => {
    const short = out === undefined ? text : text.replaceAll(` ${out}`, '')
    return short.replaceAll(model, 'checkpoints/final').replace(/(?:\/[\w.-]+)+\/(models\/base)\b/g, '$1')
  }
  for (const [file, text] of Object.entries({ 'summary.json': summary, 'report.html': report }))
    writeFileSync(inRepository(`${data}/${file}`), clean(text))
}

/** The picture at the top of the README: the first screen of the report. */
function photograph(): boolean {
  const profile = mkdtempSync(join(tmpdir(), 'agoge-picture-'))
  const names = [
    process.env['CHROMIUM'] ?? [],
    'chromium',
    'chromium-browser',
    'google-chrome',
    'chrome',
  ].flat()
  try {
    return names.some((name) => {
      try {
        execFileSync(
          name,
          [
            '--headless',
            '--no-sandbox',
            '--disable-gpu',
            '--hide-scrollbars',
            `--user-data-dir=${profile}`,
            '--window-size=1180,1130',
            `--screenshot=${inRepository(picture)}`,
            pathToFileURL(inRepository(`${data}/report.html`)).href,
          ],
          { stdio: 'ignore', timeout: 120_000 },
        )
        return true
      } catch {
        return false
      }
    })
  } finally {
    rmSync(profile, { recursive: true, force: true })
  }
}

function main(): void {
  const { values } = parseArgs({ options: { from: { type: 'string' } } })
  if (values.from !== undefined) adopt(values.from)
  const { summary, report } = readRun()
  for (const [page, metrics] of Object.entries(pages))
    writeFileSync(inRepository(page), withMetrics(readFileSync(inRepository(page), 'utf8'), metrics(summary)))
  for (const [page, tables] of Object.entries(algorithmTables))
    writeFileSync(inRepository(page), withTables(readFileSync(inRepository(page), 'utf8'), tables))
  const hashes = inRepository(`${data}/picture.json`)
  if ((JSON.parse(readFileSync(hashes, 'utf8')) as { report: string }).report === sha256(report)) return
  if (photograph()) writeFileSync(hashes, `${JSON.stringify(pictureHashes(report), null, 2)}\n`)
  else {
    console.error(`no Chromium: ${picture} is still of another run; set CHROMIUM=PATH and run this again`)
    process.exitCode = 1
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
