/**
 * Trains base models of several sizes on several numbers of tokens and evaluates their skills, those with described servers
 * among them. Every finished model is a row of OUT/results.json; a stopped study goes on where it was.
 *
 *   npx tsx scripts/scaling-study.ts --out studies/base --sizes 0.9M,2M,4M,6M --tokens 25,50,100 --minutes 110
 *
 * Tokens are in millions. `--last-stage records` for the stages of the model of the package; by default the last stage has servers
 * that their descriptions explain. `--context 1024`, `--seed 1`, `--count 100` (conversations per skill), `--learning-rate` for another
 * peak in all stages, `--minutes` to stop at a checkpoint.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { defined } from '../src/defined.ts'
import { readCheckpoint } from '../src/llm/checkpoint/checkpoint.ts'
import { parameterLayout } from '../src/llm/model/parameters.ts'
import { corpusTokenizer, pretrain, type PretrainOptions } from '../src/llm/pretraining/pretrain.ts'
import { type ModelSize, sizedConfig } from '../src/llm/pretraining/sizes.ts'
import {
  conversationNats,
  describedSkills,
  evaluatedSkills,
  evaluateSkills,
  rightConversations,
  type SkillName,
  type SkillScores,
} from '../src/llm/pretraining/skill-evaluation.ts'
import { average } from '../src/statistics/statistics.ts'

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    'last-stage': { type: 'string', default: 'described' },
    sizes: { type: 'string', default: '0.9M,2M,4M,6M' },
    tokens: { type: 'string', default: '25,50,100' },
    context: { type: 'string', default: '1024' },
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '100' },
    minutes: { type: 'string' },
    'learning-rate': { type: 'string' },
  },
})
const { out, 'last-stage': lastStage } = values
if (out === undefined) throw new Error('say where the study goes: --out FOLDER')
if (lastStage !== 'described' && lastStage !== 'records')
  throw new Error(`--last-stage: described or records, not ${lastStage}`)

/** The stages in order, with their share of the tokens. */
const stages = [
  { stage: 'general', part: 0.3 },
  { stage: 'decisions', part: 0.1 },
  { stage: lastStage, part: 0.6 },
] as const

interface Row {
  model: string
  size: string
  parameters: number
  context: number
  tokens: number
  seed: number
  learningRate: number | null
  seconds: number
  /** Of the last batch of each stage. */
  losses: Record<string, number>
  /** By skill, for each of the conversations whether every turn was exactly right: "0110". */
  right: Record<string, string>
  /** Share of right first turns, of the skills of the last stage. */
  firstTurns: SkillScores
  /** Of each of 2,000 conversations of the last stage, what `conversationNats` measures, to three decimals. */
  nats: number[]
}

mkdirSync(out, { recursive: true })
const file = join(out, 'results.json')
const rows: Row[] = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Row[]) : []
const save = (path: string, value: unknown): void => {
  writeFileSync(`${path}.writing`, `${JSON.stringify(value, null, 2)}\n`)
  renameSync(`${path}.writing`, path)
}
const number = (text: string): number => Number(text)
const [context, seed, count] = [values.context, values.seed, values.count].map(number)
const learningRate = values['learning-rate'] === undefined ? undefined : Number(values['learning-rate'])
const limit = values.minutes === undefined ? undefined : AbortSignal.timeout(Number(values.minutes) * 60_000)

interface StageDone {
  seconds: number
  loss: number
}

/** Trains one stage in a folder of its own, or reads what an earlier call finished. */
async function trainStage(folder: string, options: PretrainOptions): Promise<StageDone> {
  const done = join(folder, 'done.json')
  if (existsSync(done)) return JSON.parse(readFileSync(done, 'utf8')) as StageDone
  const run = join(folder, 'run')
  const made = await pretrain({
    ...options,
    ...defined({ learningRate, signal: limit }),
    evaluations: 0,
    out: run,
    resume: existsSync(join(run, 'config.json')),
  })
  try {
    // Half precision, as the published model: the next stage starts from that.
    await made.backend.export(join(folder, 'model'), 'F16')
    const facts = { seconds: made.seconds, loss: made.loss }
    save(done, facts)
    return facts
  } finally {
    await made.backend.dispose()
  }
}

async function trainModel(size: ModelSize, millions: number): Promise<void> {
  const model = `${size}-${millions}M-${context}-${seed}${lastStage === 'described' ? '' : `-${lastStage}`}${learningRate === undefined ? '' : `-${learningRate}`}`
  if (rows.some((row) => row.model === model)) return
  const config = sizedConfig(size, context)
  const losses: Record<string, number> = {}
  let seconds = 0
  let before: string | undefined
  for (const { stage, part } of stages) {
    const folder = join(String(out), model, stage)
    mkdirSync(folder, { recursive: true })
    const tokens = Math.round(millions * 1e6 * part)
    const from = before === undefined ? undefined : await readModel(before)
    const start =
      from === undefined
        ? {
            config,
            tokenizer: corpusTokenizer(
              seed,
              config.vocab_size,
              undefined,
              stages.map((one) => one.stage),
            ),
          }
        : { from }
    const facts = await trainStage(folder, { seed, stage, tokens, ...start })
    losses[stage] = facts.loss
    seconds += facts.seconds
    before = join(folder, 'model')
    console.log(
      `${model}: ${stage}, loss ${facts.loss.toFixed(3)}, ${(facts.seconds / 60).toFixed(1)} minutes`,
    )
  }
  const { createLocalBackend } = await import('../src/llm/backend/local-backend.ts')
  const last = await readModel(String(before))
  const backend = createLocalBackend(last)
  const names = (Object.keys(evaluatedSkills) as SkillName[]).filter(
    (name) => lastStage === 'described' || !describedSkills.includes(name),
  )
  const conversations = await rightConversations(backend, last.tokenizer, {
    count,
    names,
    ...defined({ signal: limit }),
  })
  const right = Object.fromEntries(
    Object.entries(conversations).map(([name, each]) => [name, each.map(Number).join('')]),
  )
  const firstTurns = await evaluateSkills(backend, last.tokenizer, {
    count,
    names: lastStage === 'described' ? describedSkills : ['records', 'record changes', 'many effects'],
    firstTurn: true,
    ...defined({ signal: limit }),
  })
  const nats = await conversationNats(backend, last.tokenizer, {
    stage: stages[2].stage,
    count: 2000,
    seed: 900,
  })
  await backend.dispose()
  const parameters = parameterLayout(config).size
  const tokens = millions * 1e6
  rows.push({
    model,
    size,
    parameters,
    context,
    tokens,
    seed,
    learningRate: learningRate ?? null,
    seconds,
    losses,
    right,
    firstTurns,
    nats: nats.map((value) => Number(value.toFixed(3))),
  })
  save(file, rows)
  const mean = average(Object.values(conversations).map((each) => average(each.map(Number))))
  console.log(
    `${model}: ${(100 * mean).toFixed(1)}% of conversations right, ${average(nats).toFixed(2)} nats a conversation`,
  )
}

async function readModel(folder: string) {
  const { config, parameters, tokenizer } = await readCheckpoint(folder)
  if (tokenizer === undefined) throw new Error(`${folder} has no tokenizer`)
  return { config, parameters, tokenizer }
}

try {
  for (const tokens of values.tokens.split(',').map(number))
    for (const size of values.sizes.split(',') as ModelSize[]) await trainModel(size, tokens)
  console.log(`${rows.length} models in ${file}`)
} catch (error) {
  if (limit === undefined || !limit.aborted || error !== limit.reason) throw error
  console.log(`stopped after ${values.minutes} minutes; the same command goes on`)
}
