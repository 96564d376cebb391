// node --import tsx --conditions agoge-source scripts/lora-rates/main.ts JOB... [--root FOLDER]: the study of plan.ts. Continues an
// interrupted one, and writes docs/results/lora-rates/JOB.json and, when all jobs are there, docs/results/lora-rates.md. One thread.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { baseModelFolder } from '../../src/llm/checkpoint/checkpoint.ts'
import { demonstrations, fineTuned, openTrainee, reinforced, warmStart } from './jobs.ts'
import type { Trainee } from './jobs.ts'
import { loraRatesPage } from './page.ts'
import { bestOf, budget, jobs, rateOf } from './plan.ts'
import type { JobName, JobResults } from './plan.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { root: { type: 'string', default: '.agoge/lora-rates' } },
})
const { root } = values
mkdirSync(root, { recursive: true })
const place = (name: string): URL => new URL(`../../docs/results/${name}`, import.meta.url)
const stored = (job: string): URL => place(`lora-rates/${job}.json`)
const read = (job: string): JobResults => JSON.parse(readFileSync(stored(job), 'utf8')) as JobResults

/** A function that trains an arm of a job, which keeps one model for each arm. */
async function openJob(name: JobName) {
  const start = name === 'grpo' ? await warmStart(root) : baseModelFolder
  const trainees = new Map<string, Trainee>()
  const traineeOf = async (arm: string): Promise<Trainee> => {
    const found = trainees.get(arm) ?? (await openTrainee(start, budget.arms[arm]))
    trainees.set(arm, found)
    return found
  }
  const { tokenizer } = await traineeOf('all')
  const { demonstrations: count, test } = budget.supervised
  const data = {
    train: await demonstrations(tokenizer, 'train', count),
    test: await demonstrations(tokenizer, 'test', test),
  }
  const optimizer = name === 'sft-muon' ? 'muon' : 'adamw'
  return {
    async play(arm: string, learningRate: number, seed: number): Promise<number | null> {
      const trainee = await traineeOf(arm)
      if (name === 'grpo') return reinforced(root, trainee, { learningRate, seed })
      return fineTuned(trainee, data, { optimizer, learningRate, seed })
    },
    dispose: () => Promise.all([...trainees.values()].map(({ backend }) => backend.dispose())),
  }
}

async function study(name: JobName): Promise<void> {
  const { play, dispose } = await openJob(name)
  const results: JobResults = existsSync(stored(name))
    ? read(name)
    : { before: (await play('all', 0, 0)) ?? Number.NaN, rows: [] }
  const { rows } = results
  const run = async (arm: string, exponent: number, seed: number): Promise<void> => {
    if (rows.some((row) => row.arm === arm && row.exponent === exponent && row.seed === seed)) return
    const began = performance.now()
    const score = await play(arm, rateOf(exponent), seed)
    rows.push({ arm, exponent, seed, score: score === null ? null : Number(score.toFixed(4)) })
    writeFileSync(stored(name), `${JSON.stringify(results, null, 1)}\n`)
    const seconds = ((performance.now() - began) / 1000).toFixed(0)
    process.stderr.write(`${name} ${arm} ${rateOf(exponent)} ${seed}: ${score?.toFixed(4)} (${seconds} s)\n`)
  }
  for (const seed of budget.seeds)
    for (const arm of Object.keys(budget.arms))
      for (const exponent of arm === 'all' ? jobs[name].all : jobs[name].lora) await run(arm, exponent, seed)
  for (const arm of Object.keys(budget.arms))
    for (let more = 0; more < budget.extensions && !bestOf(name, rows, arm).inside; more++) {
      const { exponent } = bestOf(name, rows, arm)
      const beyond = rows.some((row) => row.arm === arm && row.exponent > exponent)
        ? exponent - 1
        : exponent + 1
      for (const seed of budget.seeds) await run(arm, beyond, seed)
    }
  await dispose()
}

for (const name of positionals) {
  if (!(name in jobs)) throw new Error(`no job ${name}; there are ${Object.keys(jobs).join(', ')}`)
  await study(name as JobName)
}
const all = Object.keys(jobs)
if (all.every((name) => existsSync(stored(name))))
  writeFileSync(
    place('lora-rates.md'),
    loraRatesPage(Object.fromEntries(all.map((name) => [name, read(name)]))),
  )
process.exit(0)
