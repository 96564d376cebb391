import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { existsSync } from 'node:fs'
import { AgogeError } from '../../error.ts'
import { stratifiedInterquartileMean } from '../../statistics/intervals.ts'
import { machine } from '../../runs/machine.ts'
import { openRunFolder } from '../../runs/run-folder.ts'
import type { RunFolder, MetricsRecord } from '../../runs/run-folder.ts'
import { findRun } from './find.ts'
import type { FoundRun } from './find.ts'
import { renderSeedsReport } from './report.ts'
import { metricsFile, openRunRecord } from './run-record.ts'
import { runSeed } from './run-seed.ts'
import type { SeedsSummary, TrainSeedsOptions } from './seeds-types.ts'
import type { ClassicSummary } from './types.ts'
import { environmentFileOf } from './environment-file.ts'

/**
 * Trains the same run from several seeds, each in a process of its own and at most as many at once as there are cores;
 * a seed gives the same result as alone. The summary has the interquartile mean over seeds (Agarwal et al. 2021).
 *
 * @throws AgogeError for unknown names, a folder that does not fit, or the first seed that fails.
 * @example
 * const { return: iqm } = await trainSeeds({ environment: 'cartpole', algorithm: 'ppo', steps: 100_000, seeds: [1, 2, 3], out: 'runs/ppo' })
 */
export async function trainSeeds(options: TrainSeedsOptions): Promise<SeedsSummary> {
  const { environment, steps, evaluate, seeds } = options
  if (seeds.length === 0 || new Set(seeds).size < seeds.length) {
    throw new AgogeError('Seeds have to be different numbers, at least one', {
      code: 'bad-argument',
      given: seeds,
      expected: 'for example [1, 2, 3]',
    })
  }
  const found = findRun(options, await environmentFileOf(environment))
  const command = options.command ?? 'trainSeeds()'
  const resume = options.resume === true
  const out = resolve(options.out)
  const { folder, release } = openRunRecord(
    out,
    {
      kind: 'seeds',
      environment,
      seeds,
      numEnvs: found.numEnvs,
      steps,
      evaluate: evaluate ?? {},
      settings: found.settings,
    },
    { resume, command },
  )
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
  const { environment, algorithm, preset, config, steps, numEnvs, evaluate, bonus, contexts, seeds, signal } =
    options
  const { command, resume = false } = options
  const started = performance.now()
  const named = {
    environment,
    algorithm,
    steps,
    ...(preset === undefined ? {} : { preset }),
    ...(config === undefined ? {} : { config }),
    ...(numEnvs === undefined ? {} : { numEnvs }),
    ...(evaluate === undefined ? {} : { evaluate }),
    ...(bonus === undefined ? {} : { bonus }),
    ...(contexts === undefined ? {} : { contexts }),
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
      // The others stop at a safe moment, so that all can go on later.
      stop.abort(error)
      throw error
    }),
  )
  await Promise.allSettled(workers)
  if (stop.signal.aborted) throw stop.signal.reason as Error
  const summary: SeedsSummary = {
    schema: 1,
    kind: 'seeds',
    command,
    machine: machine(),
    environment,
    settings: { ...found.settings },
    seconds: (performance.now() - started) / 1000,
    return: stratifiedInterquartileMean([runs.map((run) => run.return.mean)]),
    ...setsOf(runs),
    runs,
  }
  folder.write('summary.json', `${JSON.stringify(summary, null, 2)}\n`)
  folder.write(
    'report.html',
    renderSeedsReport(
      summary,
      runs.map(({ seed }) => ({ seed, metrics: metricsOf(join(out, `seed-${seed}`)) })),
    ),
  )
  return summary
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

function metricsOf(path: string): MetricsRecord[] {
  return openRunFolder({ path })
    .lines(metricsFile)
    .map((line) => JSON.parse(line) as MetricsRecord)
}
