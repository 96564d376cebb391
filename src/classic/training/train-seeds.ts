import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { writeChecked } from '../../runs/checksums.ts'
import { readMetrics } from '../../runs/metrics.ts'
import { machine } from '../../runs/run-folder.ts'
import { type MetricsRecord, openRunFolder } from '../../runs/run-folder.ts'
import { claimRun } from '../../runs/run-store.ts'
import { stratifiedInterquartileMean } from '../../statistics/statistics.ts'
import { environmentFileOf } from './environment-file.ts'
import type { FoundRun } from './find-run.ts'
import { renderSeedsReport } from './report.ts'
import { openSeedProcess, type SeedRun } from './seed-processes.ts'
import type { ClassicSummary, SeedsSummary, TrainSeedsOptions } from './types.ts'

/**
 * Trains the same run with several seeds, on all cores. Unless they are trained `batched`, a seed gives the same numbers,
 * bit for bit, as in a run of its own. The summary has the interquartile mean over seeds (Agarwal et al. 2021).
 *
 * There is one process for each core, and a process trains one seed after another. So only its first seed waits for the
 * start of Node, the loading of the library and the optimising of kernels. With `batched`, a process trains up to 64
 * seeds at the same time.
 *
 * Without `out` nothing is written.
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
  if (options.batched === true) await checkBatched(options.algorithm)
  const command = options.command ?? 'trainSeeds()'
  const resume = options.resume === true
  if (options.out === undefined) return trainAll({ ...options, command }, found)
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
    // Always compared, and absent unless true, as in runs of earlier versions.
    batched: options.batched === true ? true : undefined,
  }
  const release = claimRun(folder, config, { resume, notes: { command } })
  try {
    const summary = await trainAll({ ...options, command, out }, found)
    writeChecked(folder, 'summary.json', `${JSON.stringify(summary, null, 2)}\n`)
    folder.write(
      'report.html',
      renderSeedsReport(
        summary,
        summary.runs.map(({ seed }) => ({ seed, metrics: metricsOf(join(out, `seed-${seed}`)) })),
      ),
    )
    return summary
  } finally {
    release()
  }
}

async function checkBatched(algorithm: string): Promise<void> {
  const { classicAlgorithms } = await import('../algorithms.ts')
  if (classicAlgorithms[algorithm].batched) return
  const able = Object.keys(classicAlgorithms).filter((name) => classicAlgorithms[name].batched)
  throw new AgogeError(`Seeds of ${algorithm} cannot be batched`, {
    code: 'bad-argument',
    given: algorithm,
    expected: `one of ${able.join(', ')}`,
    hint: 'without `batched`, one seed is trained after another',
  })
}

async function trainAll(
  options: TrainSeedsOptions & { command: string },
  found: FoundRun,
): Promise<SeedsSummary> {
  const started = performance.now()
  const runs = await runAll(options)
  return {
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
}

/** Most seeds in a batch. */
const largestBatch = 64

/** Runs every seed, in as many processes as there are cores. Returns their summaries in the order of `seeds`. */
async function runAll(options: TrainSeedsOptions & { command: string }): Promise<ClassicSummary[]> {
  const { environment, algorithm, preset, config, steps, numEnvs, evaluate, bonus, contexts } = options
  const { seeds, out, command, resume = false, signal, onEvent, onSeed } = options
  const named = {
    environment,
    algorithm,
    steps,
    ...defined({ preset, config, numEnvs, evaluate, bonus, contexts }),
  }
  const stop = new AbortController()
  const either = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal])
  const processes = Math.min(options.processes ?? Infinity, availableParallelism(), seeds.length)
  const { batched = false } = options
  const atOnce = batched ? Math.min(largestBatch, Math.ceil(seeds.length / processes)) : 1
  const runOf = (seed: number): SeedRun => {
    const own = out === undefined ? undefined : join(out, `seed-${seed}`)
    return {
      ...named,
      seed,
      ...defined({ out: own }),
      resume: resume && own !== undefined && existsSync(join(own, 'config.json')),
      command: `${command} (seed ${seed})`,
    }
  }
  const runs: ClassicSummary[] = []
  let next = 0
  async function worker(): Promise<void> {
    const trainer = openSeedProcess(either, { batched, events: onEvent !== undefined })
    try {
      while (next < seeds.length) {
        const at = next
        next += atOnce
        const found = await trainer.train(seeds.slice(at, at + atOnce).map(runOf), (seed, event) =>
          onEvent?.(seed, event),
        )
        found.forEach((summary, i) => {
          runs[at + i] = summary
          onSeed?.(summary)
        })
      }
    } finally {
      await trainer.close()
    }
  }
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
