// npm run optimise:bench -- levers --reader FOLDER [--weaker FOLDER]           whether each lever acts on the models at all
// npm run optimise:bench -- picker --reader FOLDER --weaker FOLDER --seeds 31-34   searches on ten pairs; stored rows are skipped
// npm run optimise:bench -- picker --measurement tight|again --seeds 35-42 ...   the second measurement, with 400 or 1,000 trials
// npm run optimise:bench -- picker --measurement thirty --seeds 43-54 ...          the third, on thirty pairs that were drawn
// npm run optimise:bench -- picker --set tried|drawn-tried --out FILE [--trials 400] ...   on pairs for development
// npm run optimise:bench                                                       writes docs/results/optimise.md from the stored rows
//
// The models are made by prompt-model.ts (npm run optimise:model).
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type AgogeConfig, type AgentSetup, baseModelFolder, evaluate, type FileTask, optimise } from 'agoge'
import { operation } from './operations.ts'
import { barsOf, optimisePage } from './page.ts'
import { pairSets, pairsWith } from './pairs.ts'

/** How far a setup gets on the test tasks. */
export interface SearchRow {
  pair: string
  seed: number
  /** `adaptive`, `equal`, or the one lever that had the whole budget. */
  way: string
  original: number
  /** Success of what the search chose; of the original if it found nothing. */
  success: number
  isShown: boolean
  /** Whether something was found on the selection tasks. */
  found: string | null
  interval: { mean: number; low: number | null; high: number | null } | null
  tokens: number
  seconds: number
  stopped: string
}

/** The effect of one setup on tasks that say nothing of what is wanted. */
export interface LeverRow {
  lever: string
  about: string
  before: number
  after: number
  gain: { mean: number; low: number | null; high: number | null; n: number }
}

export interface Stored {
  levers: LeverRow[]
  searches: SearchRow[]
}

/** What the last call may reserve. */
const reserve = 2100

/** Where rows are stored, and trials of the original that a search may cost, besides those of the original before it and of both setups at the end. */
const measurements = {
  first: { file: 'optimise.json', trials: 1000, set: 'reported' },
  tight: { file: 'optimise-tight.json', trials: 400, set: 'reported' },
  again: { file: 'optimise-again.json', trials: 1000, set: 'reported' },
  thirty: { file: 'optimise-thirty.json', trials: 300, set: 'drawn' },
} as const

const results = fileURLToPath(new URL('../../docs/results/', import.meta.url))
const page = join(results, 'optimise.md')
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    reader: { type: 'string', default: '.agoge/prompt-model' },
    weaker: { type: 'string', default: '.agoge/prompt-model-weaker' },
    seeds: { type: 'string', default: '11-13' },
    pairs: { type: 'string' },
    set: { type: 'string' },
    trials: { type: 'string' },
    out: { type: 'string' },
    singles: { type: 'string', default: '4' },
    measurement: { type: 'string', default: 'first' },
  },
})
const { reader, weaker } = values
const measurement = (Object.keys(measurements) as (keyof typeof measurements)[]).find(
  (name) => name === values.measurement,
)
if (measurement === undefined) throw new Error(`--measurement takes ${Object.keys(measurements).join(', ')}`)
const { file: name, ...planned } = measurements[measurement]
const searchTrials = Number(values.trials ?? planned.trials)
const file = values.out ?? join(results, name)
const read = (from: string): Stored =>
  existsSync(from) ? (JSON.parse(readFileSync(from, 'utf8')) as Stored) : { levers: [], searches: [] }

/** Changes what is stored now, so that several processes can measure different pairs. */
function store(change: (stored: Stored) => void): void {
  const stored = read(file)
  change(stored)
  // Renamed, so that no other process reads a part of it.
  const unfinished = `${file}.${process.pid}`
  writeFileSync(unfinished, `${JSON.stringify(stored, null, 1)}\n`)
  renameSync(unfinished, file)
}

const models = { reader, weaker, base: baseModelFolder }
const tried = pairsWith(models, 'tried')
const set = pairSets.find((one) => one === (values.set ?? planned.set))
if (set === undefined) throw new Error(`--set takes ${pairSets.join(', ')}`)
if (values.out === undefined && (values.set ?? values.trials) !== undefined)
  throw new Error('--set and --trials are for development, and need --out FILE')
const pairs = pairsWith(models, set)

if (positionals[0] === 'levers') await measureLevers()
else if (positionals[0] === 'picker') await measurePicker()
if (values.out === undefined) {
  const ten = pairsWith(models, 'reported')
  const from = (measured: keyof typeof measurements): Stored =>
    read(join(results, measurements[measured].file))
  const { levers, searches } = from('first')
  const first = { searches, pairs: ten, bars: barsOf.first }
  const tight = { ...first, searches: from('tight').searches }
  const again = { ...first, searches: from('again').searches }
  const thirty = {
    searches: from('thirty').searches,
    pairs: pairsWith(models, 'drawn'),
    bars: barsOf.third,
  }
  writeFileSync(page, optimisePage(levers, { first, tight, again, thirty }))
}

async function measureLevers(): Promise<void> {
  store((stored) => {
    stored.levers = []
  })
  const exchange = (words: string, answer: string) => ({
    messages: [
      { role: 'user' as const, text: words },
      { role: 'assistant' as const, text: answer },
    ],
  })
  const shown = ['river lamp stone', 'tiger amber', 'piano coral maple window', 'silver bottle castle'].map(
    (words) => exchange(words, operation('first').apply(words.split(' '))),
  )
  const tools = { tool_a: 'last', tool_b: 'commas', tool_c: 'list' }
  const described = Object.fromEntries(
    Object.entries(tools).map(([name, does]) => [name, { description: operation(does).asks[0] }]),
  )
  const setups: { lever: string; about: string; pair: string; setup: Omit<AgentSetup, 'schema'> }[] = [
    {
      lever: 'instructions',
      about: 'one that says what is wanted',
      pair: 'first',
      setup: { instructions: { text: operation('first').asks[0] } },
    },
    {
      lever: 'instructions',
      about: 'a vague one',
      pair: 'first',
      setup: { instructions: { text: 'Be polite.' } },
    },
    ...[1, 2, 4].map((count) => ({
      lever: 'demonstrations',
      about: `${count}`,
      pair: 'first',
      setup: { demonstrations: shown.slice(0, count) },
    })),
    {
      lever: 'playbook',
      about: 'a line for each mark',
      pair: '2 rules',
      setup: {
        playbook: [
          { id: '1', text: `north: ${operation('first').asks[0]}` },
          { id: '2', text: `south: ${operation('dashes').asks[0]}` },
        ],
      },
    },
    {
      lever: 'tool-descriptions',
      about: 'what each tool does',
      pair: 'misdescribed tools',
      setup: { tools: described },
    },
    {
      lever: 'model-choice',
      about: 'the other model',
      pair: 'wrong model',
      setup: { model: lastName(reader) },
    },
    {
      lever: 'test-time',
      about: 'the most frequent of 7',
      pair: 'warm',
      setup: { testTime: { method: 'votes', count: 7 } },
    },
  ]
  for (const { lever, about, pair, setup } of setups) {
    const config = configOf(pair, 1)
    const tasks = (config.tasks as FileTask[]).filter(({ split }) => split === 'test')
    const changed = {
      ...config,
      tasks,
      models: config.models.slice(0, 1),
      setup: { schema: 1 as const, ...setup },
    }
    const all = lever === 'model-choice' ? { ...changed, models: config.models } : changed
    const result = await evaluate(all).result
    const [before, after] = [result.models[0], result.models[result.models.length - 1]]
    const gain = result.comparisons.find(({ a, b }) => a === after.name && b === before.name)
    if (gain === undefined) throw new Error('no comparison')
    const { mean, low, high, n } = gain
    const row = {
      lever,
      about,
      before: before.success.mean,
      after: after.success.mean,
      gain: { mean, low, high, n },
    }
    store((stored) => stored.levers.push(row))
    console.error(`${lever}, ${about}: ${before.success.mean} to ${after.success.mean}`)
  }
}

function configOf(name: string, seed: number): AgogeConfig {
  const pair = tried.find((one) => one.name === name)
  if (pair === undefined) throw new Error(`no pair ${name}`)
  return pair.config(seed)
}

function lastName(folder: string): string {
  return folder.split('/').findLast((part) => part !== '') ?? folder
}

async function measurePicker(): Promise<void> {
  const [from, to = from] = values.seeds.split('-').map(Number)
  const wanted = values.pairs?.split(';')
  for (let seed = from; seed <= to; seed += 1)
    for (const { name, config } of pairs) {
      if (wanted !== undefined && !wanted.includes(name)) continue
      const unlimited = config(seed)
      const { success: original, tokensOfTrial } = await measureOriginal(unlimited)
      const given = { ...unlimited, budget: budgetOf(unlimited, tokensOfTrial) }
      const levers =
        seed < from + Number(values.singles)
          ? [
              'instructions',
              'tool-descriptions',
              'demonstrations',
              'playbook',
              'evolution',
              'model-choice',
              'test-time',
              'sft',
              'rl',
            ]
          : []
      for (const way of ['adaptive', 'equal', ...levers]) {
        if (read(file).searches.some((row) => row.pair === name && row.seed === seed && row.way === way))
          continue
        const started = performance.now()
        const options = way === 'adaptive' || way === 'equal' ? ({ picker: way } as const) : { levers: [way] }
        const out = mkdtempSync(join(tmpdir(), 'agoge-picker-'))
        const result = await optimise(given, { ...options, out }).result
        rmSync(out, { recursive: true, force: true })
        if (result === null) throw new Error('a dry run')
        const comparison = result.test?.comparisons[0]
        const row: SearchRow = {
          pair: name,
          seed,
          way,
          original,
          success: result.test?.models[1].success.mean ?? original,
          isShown: result.isShown,
          found: result.best === null ? null : `${result.best.lever}: ${result.best.about}`,
          interval:
            comparison === undefined
              ? null
              : { mean: comparison.mean, low: comparison.low, high: comparison.high },
          tokens: result.spent.tokens,
          seconds: Math.round((performance.now() - started) / 100) / 10,
          stopped: result.stopped,
        }
        store((stored) => stored.searches.push(row))
        console.error(
          `${name}, seed ${seed}, ${way}: ${original} to ${row.success} (${row.found ?? 'nothing'}), ${row.tokens} tokens, ${row.seconds} s`,
        )
      }
    }
}

/** The agent as it is, on the test tasks: the same for all searches of a pair and seed. */
async function measureOriginal(config: AgogeConfig): Promise<{ success: number; tokensOfTrial: number }> {
  const tasks = (config.tasks as FileTask[]).filter(({ split }) => split === 'test')
  const { models, spent } = await evaluate({ ...config, tasks, models: config.models.slice(0, 1) }).result
  return { success: models[0].success.mean, tokensOfTrial: spent.tokens / tasks.length }
}

/** So little that no search can try all that it has. */
function budgetOf(config: AgogeConfig, tokensOfTrial: number): { tokens: number } {
  const tasks = config.tasks as FileTask[]
  const tested = tasks.filter(({ split }) => split === 'test').length
  const trials = tasks.length - tested + 2.2 * tested + searchTrials
  return { tokens: Math.round(reserve + tokensOfTrial * trials) }
}
