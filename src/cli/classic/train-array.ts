import { join, resolve } from 'node:path'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import type { MeanEstimate } from '../../statistics/statistics.ts'
import { algorithmsFor, findRun, openNamed, trainNamed } from '../../classic/training/find-run.ts'
import { estimateText, resultLine, returnText, seedsLine } from '../../classic/training/report.ts'
import { isEnvironmentFile, environmentFileOf } from '../../classic/training/environment-file.ts'
import { noRun, readConfig } from '../../runs/run-store.ts'
import { trainSeeds } from '../../classic/training/train-seeds.ts'
import type { NamedRun, SeedsSummary } from '../../classic/training/types.ts'
import { checkNewRun, openRunFolder } from '../../runs/run-folder.ts'
import { count, duration } from '../../runs/report/format.ts'
import {
  asksForContexts,
  type ContextOptions,
  readBonus,
  readContexts,
  readEncoder,
} from './setting-options.ts'
import { type Console, table } from '../shared/console.ts'
import { createProgress, createSeedsProgress } from '../shared/progress.ts'
import { runToResume } from '../shared/runs.ts'

export interface TrainArrayCommand extends ContextOptions {
  environment: string
  algorithm?: string
  preset?: string
  encoder?: string
  bonus?: string
  steps?: number
  numEnvs?: number
  seed: number
  /** Number of seeds. */
  seeds?: number
  batched?: boolean
  out?: string
  resume?: string | true
  /** As typed, for the record. */
  commandLine: string
}

/** Default number of environment steps in a run. */
const defaultSteps = 100_000

/**
 * After these errors, resuming is no advice: another process uses the run, or one of its files is missing or damaged.
 */
const hopeless = ['run-in-use', 'no-model', 'bad-run-folder']

/** A run according to its `config.json`. */
interface Plan {
  named: NamedRun
  seeds: number[]
  /** One run in this process, or one run per seed in processes of their own. */
  several: boolean
  batched: boolean
  commandLine: string
}

/** `agoge train ENVIRONMENT` for classic environments. */
export async function runTrainArray(command: TrainArrayCommand, terminal: Console): Promise<void> {
  const resume = command.resume !== undefined
  const earlier = resume ? earlierRun(command.resume) : undefined
  const plan = earlier === undefined ? await newPlan(command) : readPlan(earlier)
  findRun(plan.named, await environmentFileOf(plan.named.environment))
  if (earlier === undefined) checkNewRun(command.out)
  const out = earlier ?? resolve(openRunFolder(command.out === undefined ? {} : { path: command.out }).path)
  terminal.err(`run folder: ${out}`)
  try {
    await (plan.several ? trainSeveral : trainOne)(plan, { out, resume }, terminal)
  } catch (error) {
    if (!AgogeError.isInstance(error) || !hopeless.includes(error.code))
      terminal.err(`to resume: agoge train --resume ${out}`)
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
    const { best } = summary
    if (best?.checkpoint !== undefined && best.step < summary.steps)
      print(
        `best evaluation: ${returnText(best.return)} after ${count(best.step)} steps, kept in ${join(out, 'checkpoints', best.checkpoint)}`,
      )
    print(
      `training: ${duration(summary.seconds)}, ${count(summary.steps / summary.seconds)} steps/s, ${count(summary.episodes)} episodes; evaluation: ${duration(summary.evaluationSeconds)}`,
    )
  } finally {
    progress.close()
  }
}

async function trainSeveral(
  { named, seeds, batched, commandLine }: Plan,
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
      batched,
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

/** The result on each context set. */
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
  const { preset, encoder, bonus, steps, numEnvs, seed, seeds, batched = false, commandLine } = command
  // Absolute, so that the run is found from other folders.
  const environment = isEnvironmentFile(command.environment)
    ? resolve(command.environment)
    : command.environment
  const opened = await openNamed(environment)
  const algorithm = command.algorithm ?? algorithmsFor(opened.definition)[0]
  const several = seeds !== undefined && seeds > 1
  const first = several && seed === 0 ? 1 : seed
  if (batched && !several)
    throw new AgogeError('--batched is for several seeds', {
      code: 'bad-argument',
      given: `${seeds ?? 1} seed`,
      expected: '--seeds of 2 or more',
    })
  return {
    named: {
      environment,
      algorithm,
      steps: steps ?? defaultSteps,
      ...defined({ preset, numEnvs }),
      ...(encoder === undefined ? {} : { config: { encoder: readEncoder(encoder, algorithm) } }),
      ...(bonus === undefined ? {} : { bonus: readBonus(bonus) }),
      ...(asksForContexts(command) ? { contexts: readContexts(opened.definition, command) } : {}),
    },
    seeds: several ? Array.from({ length: seeds }, (_, i) => first + i) : [seed],
    several,
    batched,
    commandLine,
  }
}

/** The run folder holds everything that `--resume` needs. */
function readPlan(folder: string): Plan {
  const config = readConfig(openRunFolder({ path: folder })) as {
    kind: string
    environment: string
    steps: number
    numEnvs: number
    seed?: number
    seeds?: number[]
    batched?: true
    evaluate: NonNullable<NamedRun['evaluate']>
    settings: Pick<NamedRun, 'algorithm' | 'preset' | 'config' | 'bonus' | 'contexts'> & { file?: string }
    command: string
  }
  const { steps, numEnvs, seed = 0, batched = false, evaluate, command } = config
  const { file, ...settings } = config.settings
  return {
    named: { environment: file ?? config.environment, steps, numEnvs, evaluate, ...settings },
    seeds: config.seeds ?? [seed],
    several: config.kind === 'seeds',
    batched,
    commandLine: command,
  }
}

function earlierRun(resume: string | true | undefined): string {
  const folder = runToResume(resume ?? true)
  if (folder !== undefined) return resolve(folder)
  throw noRun('.agoge/runs')
}
