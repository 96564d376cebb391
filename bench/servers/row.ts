// One row of the table: what one training of one server with one seed showed. Stored in docs/results/servers/NAME-SEED.json.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Episode, TrainingSummary } from 'agoge'
import { createRandom } from 'agoge/engine'
import { readEpisodes } from 'agoge/llm'
import { type Estimate, type MeanEstimate, pairedDifference } from 'agoge/statistics'
import type { CheatingRates, LeftOut } from './printed.ts'

export interface ServerRow {
  schema: 1
  server: string
  package: string
  seed: number
  date: string
  command: string
  machine: { cpu: string; cores: number; node: string }
  minutes: number
  limitMinutes: number
  /** True if the command was ended because it took longer than `limitMinutes`. */
  stopped: boolean
  tools: { all: number; usable: string[]; leftOut: LeftOut[] }
  /** Number of tasks that `agoge tasks --count 300` made. Null if it failed. */
  tasks: number | null
  /** Share of these tasks that the expert solves. */
  expert: number | null
  cheating: CheatingRates | null
  /** Three of the requests, drawn at random. Rows before 24 November 2026 have none. */
  requests?: string[]
  base: Estimate | null
  warmStart: Estimate | null
  rl: Estimate | null
  /** RL minus warm start, paired by task, without masked episodes. */
  gain: MeanEstimate | null
  /** After RL, on requests worded as none of training, by what is new in them. Rows before 27 November 2026 do not tell them apart. */
  paraphrases?: Readonly<Record<string, Estimate>>
  /** Steps of RL, of which a limit of time may leave fewer. Rows before 27 November 2026 do not say it. */
  rlSteps?: number
  masked: number
  remarks: string[]
  /** The first line of the error that ended the command. */
  error: string | null
}

const rowsFolder = fileURLToPath(new URL('../../docs/results/servers', import.meta.url))
const rowFile = (server: string, seed: number): string => join(rowsFolder, `${server}-${seed}.json`)

export function hasRow(server: string, seed: number): boolean {
  return existsSync(rowFile(server, seed))
}

export function writeRow(row: ServerRow): void {
  mkdirSync(rowsFolder, { recursive: true })
  writeFileSync(rowFile(row.server, row.seed), `${JSON.stringify(row, null, 1)}\n`)
}

/** A row that does not name the folder in which it was measured: `/documents/a.txt` for a file in it. */
export function withoutFolder(row: ServerRow, folder: string): ServerRow {
  const escaped = JSON.stringify(folder).slice(1, -1)
  return JSON.parse(JSON.stringify(row).replaceAll(escaped, '')) as ServerRow
}

/** All stored rows, by server and seed. */
export function readRows(folder = rowsFolder): ServerRow[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as ServerRow)
    .sort((a, b) => a.server.localeCompare(b.server) || a.seed - b.seed)
}

/** Three requests of a task file, drawn at random. None if there is no such file. */
export function drawRequests(file: string, seed: number): string[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  const prompts = lines.map((line) => (JSON.parse(line) as { prompt: string }).prompt)
  return createRandom('requests', seed).shuffle(prompts).slice(0, 3)
}

type Trained = Pick<
  ServerRow,
  'base' | 'warmStart' | 'rl' | 'gain' | 'paraphrases' | 'rlSteps' | 'masked' | 'remarks'
>

/** The results in a run folder. All are null if the run did not finish. */
export function readRun(folder: string): Trained {
  const file = join(folder, 'summary.json')
  if (!existsSync(file)) {
    return { base: null, warmStart: null, rl: null, gain: null, masked: 0, remarks: [] }
  }
  const summary = JSON.parse(readFileSync(file, 'utf8')) as TrainingSummary
  const success = (name: TrainingSummary['stages'][number]['name']): Estimate | null =>
    summary.stages.find((stage) => stage.name === name)?.success ?? null
  const paraphrases = summary.unseenParaphrases?.groups
  const episodes = (name: TrainingSummary['stages'][number]['name']): Episode[] => {
    const path = join(folder, 'evaluations', `${name}.jsonl`)
    return existsSync(path) ? readEpisodes(path) : []
  }
  return {
    base: success('base'),
    warmStart: success('warm-start'),
    rl: success('rl'),
    gain: pairedGain(episodes('warm-start'), episodes('rl')),
    ...(paraphrases === undefined ? {} : { paraphrases }),
    ...(summary.reinforcement === undefined ? {} : { rlSteps: summary.reinforcement.steps }),
    masked: summary.cost.masked,
    remarks: summary.remarks ?? [],
  }
}

/** The paired difference of success, over the tasks that both judged. Null without such tasks. */
export function pairedGain(
  before: readonly Pick<Episode, 'task' | 'success'>[],
  after: readonly Pick<Episode, 'task' | 'success'>[],
): MeanEstimate | null {
  const judged = new Map(before.map(({ task, success }) => [task, success]))
  const pairs = after.flatMap(({ task, success }) => {
    const earlier = judged.get(task)
    return success === null || earlier === null || earlier === undefined
      ? []
      : [[Number(success), Number(earlier)] as const]
  })
  if (pairs.length === 0) return null
  return pairedDifference(
    pairs.map(([later]) => later),
    pairs.map(([, earlier]) => earlier),
  )
}

/**
 * Reads `0-2`, `1` or `0,3`.
 *
 * @throws Error for anything else.
 */
export function seedsOf(text: string): number[] {
  return text.split(',').flatMap((part) => {
    const [, first, last = first] = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(part) ?? []
    if (first === undefined || Number(last) < Number(first))
      throw new Error(`--seeds ${text}: a seed, several with commas, or a range such as 0-2`)
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => Number(first) + at)
  })
}
