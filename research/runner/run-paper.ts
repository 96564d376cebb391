import { fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { AgogeError } from 'agoge'
import type { ArmResult, ArmRuns, Paper, PaperRuns } from './paper.ts'
import type { Seeds } from './plan.ts'

/** One arm with one seed, as sent to a worker process. */
export interface PaperJob {
  file: string
  arm: string
  seed: number
  quick: boolean
}

/** The result of one arm with one seed. */
export interface Scored extends ArmResult {
  arm: string
  seed: number
  seconds: number
}

export interface PaperRunOptions {
  /** The module whose default export is the paper. */
  file: string
  /** The worker module. It takes one `PaperJob` at a time as message and answers with an `ArmResult` and `seconds`, or `{ error }`. */
  worker: string
  seeds: Seeds
  /** An arm that runs a second time, with seeds of its own: the A/A control. */
  again?: { arm: string; seeds: Seeds }
  /** Arguments of Node before the worker, such as a loader. */
  execArgv?: readonly string[]
  quick?: boolean
  /** Number of worker processes. Default: the number of cores. */
  workers?: number
  /** Results of an earlier, stopped call. These are not run again. */
  done?: readonly Scored[]
  onScore?: (scored: Scored & { left: number }) => void
  signal?: AbortSignal
}

/** Runs every arm with every seed in worker processes with one thread each, seeds of one arm after another. */
export async function runPaper(paper: Paper, options: PaperRunOptions): Promise<PaperRuns> {
  const { seeds, again, done = [], signal } = options
  const results = new Map(done.map((scored) => [keyOf(scored), scored]))
  const jobs = jobsOf(paper, options).filter((job) => !results.has(keyOf(job)))
  signal?.throwIfAborted()
  await runJobs(jobs, options, (scored) => results.set(keyOf(scored), scored))
  const gather = (arm: string, of: Seeds): ArmRuns =>
    gathered(
      arm,
      seedList(of).flatMap((seed) => results.get(keyOf({ arm, seed })) ?? []),
    )
  return {
    arms: Object.fromEntries(Object.keys(paper.arms).map((arm) => [arm, gather(arm, seeds)])),
    ...(again === undefined ? {} : { again: gather(again.arm, again.seeds) }),
  }
}

const keyOf = ({ arm, seed }: { arm: string; seed: number }): string => `${seed} ${arm}`

const seedList = ({ from, to }: Seeds): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i)

function jobsOf(paper: Paper, { file, quick = false, seeds, again }: PaperRunOptions): PaperJob[] {
  const ofArm = (arm: string, of: Seeds): PaperJob[] =>
    seedList(of).map((seed) => ({ file, arm, seed, quick }))
  return [
    ...Object.keys(paper.arms).flatMap((arm) => ofArm(arm, seeds)),
    ...(again === undefined ? [] : ofArm(again.arm, again.seeds)),
  ]
}

async function runJobs(
  jobs: readonly PaperJob[],
  options: PaperRunOptions,
  add: (scored: Scored) => void,
): Promise<void> {
  const { workers = availableParallelism(), onScore } = options
  // A failure ends the other processes too.
  const failed = new AbortController()
  const signal = AbortSignal.any([failed.signal, ...(options.signal === undefined ? [] : [options.signal])])
  let next = 0
  let left = jobs.length
  const work = async (): Promise<void> => {
    signal.throwIfAborted()
    const worker = startWorker({ ...options, signal })
    try {
      while (next < jobs.length) {
        signal.throwIfAborted()
        const job = jobs[next++]
        const scored = { arm: job.arm, seed: job.seed, ...(await worker.run(job)) }
        add(scored)
        onScore?.({ ...scored, left: --left })
      }
    } finally {
      worker.end()
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(workers, jobs.length) }, work))
  } catch (error) {
    failed.abort(error)
    // A worker that is ended says so in its own way.
    options.signal?.throwIfAborted()
    throw error
  }
}

/**
 * The runs of one arm.
 *
 * @throws AgogeError if one run returns a measure or a start that another does not.
 */
function gathered(arm: string, runs: readonly Scored[]): ArmRuns {
  const names = [...new Set(runs.flatMap(({ measures = {} }) => Object.keys(measures)))]
  const column = (name: string, of: (run: Scored) => number | undefined): number[] => {
    const values = runs.flatMap((run) => of(run) ?? [])
    if (values.length === runs.length || values.length === 0) return values
    throw new AgogeError(`only some runs of arm "${arm}" return "${name}"`, {
      code: 'bad-paper',
      given: `${values.length} of ${runs.length} runs`,
      expected: 'the same measures from every run of an arm',
    })
  }
  return {
    scores: runs.map(({ score }) => score),
    measures: Object.fromEntries(names.map((name) => [name, column(name, (run) => run.measures?.[name])])),
    starts: column('start', (run) => run.start),
    unreached: runs.filter(({ reached }) => reached === false).length,
    seconds: runs.reduce((sum, { seconds }) => sum + seconds, 0),
  }
}

type Result = ArmResult & { seconds: number }
type Answer = Result | { error: string }

interface PaperWorker {
  run(job: PaperJob): Promise<Result>
  end(): void
}

/**
 * The native ONNX Runtime rounds differently where the processor has AVX-512; WebAssembly does not. A quick run
 * keeps no scores, and must run where onnxruntime-web is not installed.
 */
export const sameOnEveryProcessor = { AGOGE_RUNTIME: 'web' }

/** A process that does one job after another. */
function startWorker({ worker, execArgv = [], quick = false, signal }: PaperRunOptions): PaperWorker {
  let asked: { job: PaperJob; resolve: (done: Result) => void; reject: (why: unknown) => void } | undefined
  const child = fork(worker, {
    execArgv: [...execArgv],
    env: { ...process.env, AGOGE_THREADS: '1', ...(quick ? {} : sameOnEveryProcessor) },
    // Keeps NaN, which JSON does not, so that it is refused as such.
    serialization: 'advanced',
    ...(signal === undefined ? {} : { signal }),
  })
  function fail(why: unknown): void {
    const { reject } = asked ?? {}
    asked = undefined
    reject?.(why)
  }
  child.on('message', (message) => {
    if (asked === undefined) return
    const { job, resolve } = asked
    const answer = message as Answer
    if ('error' in answer) return fail(broken(job, answer.error))
    const { score, start = 0, measures = {} } = answer
    const bad = Object.entries({ ...measures, score, start }).find(([, value]) => !Number.isFinite(value))
    if (bad !== undefined) return fail(broken(job, `the ${bad[0]} is ${bad[1]}`))
    asked = undefined
    resolve(answer)
  })
  child.on('error', fail)
  child.on('exit', (code) => asked && fail(broken(asked.job, `the worker ended with code ${code}`)))
  return {
    run: (job) =>
      new Promise((resolve, reject) => {
        asked = { job, resolve, reject }
        child.send(job)
      }),
    end: () => void child.kill(),
  }
}

const broken = ({ file, arm, seed }: PaperJob, reason: string): AgogeError =>
  new AgogeError(`arm "${arm}" with seed ${seed} of ${file} gave no score: ${reason}`, {
    code: 'arm-failed',
    given: reason,
    expected: 'a finite number',
  })
