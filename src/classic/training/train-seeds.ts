import { fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import type { ErrorCode } from '../../error.ts'
import { writeChecked } from '../../runs/checksums.ts'
import { readMetrics } from '../../runs/metrics.ts'
import type { TrainingEvent } from '../../runs/run-folder.ts'
import { machine } from '../../runs/run-folder.ts'
import { type MetricsRecord, openRunFolder, type RunFolder } from '../../runs/run-folder.ts'
import { claimRun } from '../../runs/run-store.ts'
import { stratifiedInterquartileMean } from '../../statistics/statistics.ts'
import { environmentFileOf } from './environment-file.ts'
import type { FoundRun, TrainNamedOptions } from './find-run.ts'
import { renderSeedsReport } from './report.ts'
import type { ClassicSummary, SeedsSummary, TrainSeedsOptions } from './types.ts'

export type ToSeedProcess =
  | { type: 'run'; run: Omit<TrainNamedOptions, 'onEvent' | 'signal'> }
  | { type: 'stop' }

export type FromSeedProcess =
  | { type: 'event'; event: TrainingEvent }
  | { type: 'done'; summary: ClassicSummary }
  | {
      type: 'failed'
      message: string
      details: { code?: string; given?: unknown; expected?: string | undefined; hint?: string | undefined }
    }

const isSource = import.meta.url.endsWith('.ts')
const script = fileURLToPath(new URL(`./seed-process.${isSource ? 'ts' : 'js'}`, import.meta.url))

/** Trains one seed in its own process. Seeds then share no runtime, and use all cores. */
function runSeed(
  run: Omit<TrainNamedOptions, 'onEvent' | 'signal'>,
  { onEvent, signal }: { onEvent: (event: TrainingEvent) => void; signal?: AbortSignal },
): Promise<ClassicSummary> {
  signal?.throwIfAborted()
  return new Promise((resolve, reject) => {
    const child = fork(script, {
      execArgv: isSource
        ? ['--import', import.meta.resolve('tsx'), '--conditions', 'agoge-source']
        : ['--no-warnings'],
      serialization: 'advanced',
    })
    const tell = (message: ToSeedProcess): void => {
      if (child.connected) child.send(message)
    }
    const stop = (): void => tell({ type: 'stop' })
    signal?.addEventListener('abort', stop, { once: true })
    let outcome: Extract<FromSeedProcess, { type: 'done' | 'failed' }> | undefined
    child.on('message', (message: FromSeedProcess) => {
      if (message.type === 'event') onEvent(message.event)
      else outcome = message
    })
    child.on('error', reject)
    child.on('close', (code, killed) => {
      signal?.removeEventListener('abort', stop)
      if (outcome?.type === 'done') resolve(outcome.summary)
      else if (signal?.aborted === true) reject(signal.reason as Error)
      else reject(failure(run, outcome, killed ?? `exit code ${code}`))
    })
    tell({ type: 'run', run })
  })
}

function failure(
  { seed, out }: { seed: number; out: string },
  outcome: Extract<FromSeedProcess, { type: 'failed' }> | undefined,
  end: string,
): AgogeError {
  if (outcome === undefined) {
    return new AgogeError(`The process of seed ${seed} ended without a result`, {
      code: 'seed-process',
      given: end,
      expected: 'a summary',
      hint: `What it finished is in ${out}; resume with --resume`,
    })
  }
  const { code, given, expected, hint } = outcome.details
  return new AgogeError(`Seed ${seed}: ${outcome.message}`, {
    code: (code as ErrorCode | undefined) ?? 'seed-process',
    given,
    ...defined({ expected, hint }),
  })
}

/**
 * Trains the same run with several seeds, each in its own process, and at most one process per core. A seed gives
 * the same result as in a run of its own. The summary has the interquartile mean over seeds (Agarwal et al. 2021).
 *
 * @throws AgogeError for unknown names, a folder that does not fit, or the first seed that fails.
 * @example
 * const { return: iqm } = await trainSeeds({ environment: 'cartpole', algorithm: 'ppo', steps: 100_000, seeds: [1, 2, 3], out: 'runs/ppo' })
 */
export async function trainSeeds(options: TrainSeedsOptions): Promise<SeedsSummary> {
  const { environment, steps, evaluate, seeds } = options
  if (seeds.length === 0 || new Set(seeds).size < seeds.length) {
    throw new AgogeError('Seeds must be different numbers, at least one', {
      code: 'bad-argument',
      given: seeds,
      expected: 'for example [1, 2, 3]',
    })
  }
  // Loaded on demand, because it loads every environment and every algorithm.
  const { findRun } = await import('./find-run.ts')
  const found = findRun(options, await environmentFileOf(environment))
  const command = options.command ?? 'trainSeeds()'
  const resume = options.resume === true
  const out = resolve(options.out)
  const folder = openRunFolder({ path: out })
  const config = {
    schema: 1,
    kind: 'seeds',
    environment,
    seeds,
    numEnvs: found.numEnvs,
    steps,
    evaluate: evaluate ?? {},
    settings: found.settings,
  }
  const release = claimRun(folder, config, { resume, notes: { command } })
  try {
    return await trainAll({ ...options, command }, { folder, found, out })
  } finally {
    release()
  }
}

async function trainAll(
  options: TrainSeedsOptions & { command: string },
  { folder, found, out }: { folder: RunFolder; found: FoundRun; out: string },
): Promise<SeedsSummary> {
  const started = performance.now()
  const runs = await runAll(options, out)
  const summary: SeedsSummary = {
    schema: 1,
    kind: 'seeds',
    command: options.command,
    machine: machine(),
    environment: options.environment,
    settings: { ...found.settings },
    seconds: (performance.now() - started) / 1000,
    return: stratifiedInterquartileMean([runs.map((run) => run.return.mean)]),
    ...setsOf(runs),
    runs,
  }
  writeChecked(folder, 'summary.json', `${JSON.stringify(summary, null, 2)}\n`)
  folder.write(
    'report.html',
    renderSeedsReport(
      summary,
      runs.map(({ seed }) => ({ seed, metrics: metricsOf(join(out, `seed-${seed}`)) })),
    ),
  )
  return summary
}

/** Runs every seed in its own process. Returns their summaries in the order of `seeds`. */
async function runAll(
  options: TrainSeedsOptions & { command: string },
  out: string,
): Promise<ClassicSummary[]> {
  const { environment, algorithm, preset, config, steps, numEnvs, evaluate, bonus, contexts, seeds, signal } =
    options
  const { command, resume = false } = options
  const named = {
    environment,
    algorithm,
    steps,
    ...defined({ preset, config, numEnvs, evaluate, bonus, contexts }),
  }
  const stop = new AbortController()
  const either = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal])
  const runs: ClassicSummary[] = []
  let next = 0
  async function worker(): Promise<void> {
    while (next < seeds.length) {
      const at = next++
      const seed = seeds[at]
      const own = join(out, `seed-${seed}`)
      runs[at] = await runSeed(
        {
          ...named,
          seed,
          out: own,
          resume: resume && existsSync(join(own, 'config.json')),
          command: `${command} (seed ${seed})`,
        },
        { onEvent: (event) => options.onEvent?.(seed, event), signal: either },
      )
    }
  }
  const processes = Math.min(options.processes ?? Infinity, availableParallelism(), seeds.length)
  const workers = Array.from({ length: processes }, () =>
    worker().catch((error: unknown) => {
      // The other seeds stop at a step where they can resume.
      stop.abort(error)
      throw error
    }),
  )
  await Promise.allSettled(workers)
  if (stop.signal.aborted) throw stop.signal.reason as Error
  return runs
}

/** The interquartile mean over seeds on each set of contexts. */
function setsOf([first, ...others]: readonly ClassicSummary[]): Pick<SeedsSummary, 'sets'> {
  if (first.sets === undefined) return {}
  return {
    sets: first.sets.map(({ set }, i) => {
      const means = [first, ...others].flatMap(({ sets }) => sets?.[i].return.mean ?? [])
      return { set, return: stratifiedInterquartileMean([means]) }
    }),
  }
}

const metricsOf = (path: string): MetricsRecord[] => readMetrics(openRunFolder({ path }), () => {})
