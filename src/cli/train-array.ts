import { join, resolve } from 'node:path'
import { AgogeError } from '../error.ts'
import type { MeanEstimate } from '../evaluation/index.ts'
import {
  algorithmsFor,
  estimateText,
  findRun,
  isWorldFile,
  openWorldNamed,
  readConfig,
  resultLine,
  seedsLine,
  trainNamed,
  trainSeeds,
  worldFileOf,
} from '../training/arrays/index.ts'
import type { NamedRun, SeedsSummary } from '../training/arrays/index.ts'
import { checkNewRun, openRunFolder } from '../training/run-folder.ts'
import { count, duration } from '../training/report/format.ts'
import { readBody } from './body-option.ts'
import { readBonus } from './bonus-option.ts'
import type { Console } from './console.ts'
import { asksForContexts, readContexts } from './context-options.ts'
import type { ContextOptions } from './context-options.ts'
import { createProgress } from './progress.ts'
import { createSeedsProgress } from './seeds-progress.ts'
import { runToResume } from './runs.ts'
import { table } from './table.ts'

export interface TrainArrayCommand extends ContextOptions {
  world: string
  algorithm?: string
  preset?: string
  body?: string
  bonus?: string
  steps?: number
  slots?: number
  seed: number
  /** How many seeds. */
  seeds?: number
  out?: string
  resume?: string | true
  /** As it was typed, for the record. */
  commandLine: string
}

/** Steps of a run unless told. */
const defaultSteps = 100_000

/** After these errors going on is no advice: another process is at it, or a file of the run is gone or damaged. */
const hopeless = ['run-in-use', 'no-model', 'bad-run-folder']

/** A run as `config.json` tells it. */
interface Plan {
  named: NamedRun
  seeds: number[]
  /** One run in this process, or one a seed in processes of their own. */
  several: boolean
  commandLine: string
}

/** `agoge train WORLD` for worlds over arrays of numbers. */
export async function runTrainArray(command: TrainArrayCommand, terminal: Console): Promise<void> {
  const resume = command.resume !== undefined
  const earlier = resume ? earlierRun(command.resume) : undefined
  const plan = earlier === undefined ? await newPlan(command) : readPlan(earlier)
  findRun(plan.named, await worldFileOf(plan.named.world))
  if (earlier === undefined) checkNewRun(command.out)
  const out = earlier ?? resolve(openRunFolder(command.out === undefined ? {} : { path: command.out }).path)
  terminal.err(`run folder: ${out}`)
  try {
    await (plan.several ? trainSeveral : trainOne)(plan, { out, resume }, terminal)
  } catch (error) {
    if (!AgogeError.isInstance(error) || !hopeless.includes(error.code))
      terminal.err(`go on with: agoge train --resume ${out}`)
    throw error
  }
  terminal.out(`report: ${join(out, 'report.html')}`)
}

type Where = { out: string; resume: boolean }

async function trainOne(
  { named, seeds, commandLine }: Plan,
  { out, resume }: Where,
  { out: print, progress: output, signal }: Console,
): Promise<void> {
  const progress = createProgress(output)
  try {
    const summary = await trainNamed({
      ...named,
      seed: seeds[0],
      out,
      resume,
      command: commandLine,
      onEvent: (event) => progress.event(event),
      signal,
    })
    progress.close()
    print(resultLine(summary))
    if (summary.sets !== undefined) print(setsText(summary.sets))
    print(
      `training: ${duration(summary.seconds)}, ${count(summary.steps / summary.seconds)} steps/s, ${count(summary.episodes)} episodes; evaluation: ${duration(summary.evaluationSeconds)}`,
    )
  } finally {
    progress.close()
  }
}

async function trainSeveral(
  { named, seeds, commandLine }: Plan,
  { out, resume }: Where,
  { out: print, progress: output, signal }: Console,
): Promise<void> {
  const progress = createSeedsProgress(output, seeds)
  try {
    const summary = await trainSeeds({
      ...named,
      seeds,
      out,
      resume,
      command: commandLine,
      onEvent: (seed, event) => progress.event(seed, event),
      signal,
    })
    progress.close()
    print(seedsText(summary))
  } finally {
    progress.close()
  }
}

/** The result on each set of contexts. */
const setsText = (sets: readonly { set: string; return: MeanEstimate }[]): string =>
  table(
    ['contexts', 'mean return, 95% interval'],
    sets.map(({ set, return: found }) => [set, estimateText(found)]),
  )

/** The result over all seeds, then each of them. */
export function seedsText(summary: SeedsSummary): string {
  const rows = summary.runs.map(({ seed, return: found, seconds, steps }) => [
    `seed ${seed}`,
    estimateText(found),
    duration(seconds),
    count(steps / seconds),
  ])
  return [
    seedsLine(summary),
    ...(summary.sets === undefined ? [] : [setsText(summary.sets)]),
    table(['', 'mean return, 95% interval', 'training', 'steps/s'], rows),
    `in all: ${duration(summary.seconds)}`,
  ].join('\n')
}

async function newPlan(command: TrainArrayCommand): Promise<Plan> {
  const { preset, body, bonus, steps, slots, seed, seeds, commandLine } = command
  // So that the run is found again from other folders.
  const world = isWorldFile(command.world) ? resolve(command.world) : command.world
  const opened = await openWorldNamed(world)
  const algorithm = command.algorithm ?? algorithmsFor(opened.world)[0]
  const several = seeds !== undefined && seeds > 1
  const first = several && seed === 0 ? 1 : seed
  return {
    named: {
      world,
      algorithm,
      steps: steps ?? defaultSteps,
      ...(preset === undefined ? {} : { preset }),
      ...(slots === undefined ? {} : { slots }),
      ...(body === undefined ? {} : { config: { body: readBody(body, algorithm) } }),
      ...(bonus === undefined ? {} : { bonus: readBonus(bonus) }),
      ...(asksForContexts(command) ? { contexts: readContexts(opened.world, command) } : {}),
    },
    seeds: several ? Array.from({ length: seeds }, (_, i) => first + i) : [seed],
    several,
    commandLine,
  }
}

/** Everything is in the folder, so that `--resume` needs nothing else. */
function readPlan(folder: string): Plan {
  const config = readConfig(openRunFolder({ path: folder })) as {
    kind: string
    world: string
    steps: number
    slots: number
    seed?: number
    seeds?: number[]
    evaluate: NonNullable<NamedRun['evaluate']>
    settings: Pick<NamedRun, 'algorithm' | 'preset' | 'config' | 'bonus' | 'contexts'> & { file?: string }
    command: string
  }
  const { steps, slots, seed = 0, evaluate, command } = config
  const { file, ...settings } = config.settings
  return {
    named: { world: file ?? config.world, steps, slots, evaluate, ...settings },
    seeds: config.seeds ?? [seed],
    several: config.kind === 'seeds',
    commandLine: command,
  }
}

function earlierRun(resume: string | true | undefined): string {
  const folder = runToResume(resume ?? true)
  if (folder !== undefined) return resolve(folder)
  throw new AgogeError('There is no run to go on with.', {
    code: 'no-run',
    given: '.agoge/runs',
    expected: 'a run folder with a config.json',
  })
}
