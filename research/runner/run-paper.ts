import { fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { AgogeError } from 'agoge'
import type { Paper } from './paper.ts'

/** One arm with one seed, as sent to a worker process. */
export interface PaperJob {
  file: string
  arm: string
  seed: number
  quick: boolean
}

/** The score of one arm with one seed. */
export interface Scored {
  arm: string
  seed: number
  score: number
  seconds: number
}

export interface PaperRunOptions {
  /** The module whose default export is the paper. */
  file: string
  /** The worker module. It takes one `PaperJob` at a time as message and answers `{ score, seconds }` or `{ error }`. */
  worker: string
  /** Arguments of Node before the worker, such as a loader. */
  execArgv?: readonly string[]
  quick?: boolean
  /** Number of worker processes. Default: the number of cores. */
  workers?: number
  /** Scores of an earlier, stopped call. These are not run again. */
  done?: readonly Scored[]
  onScore?: (scored: Scored & { left: number }) => void
  signal?: AbortSignal
}

export interface PaperScores {
  /** By arm, in the order of the seeds. */
  scores: Record<string, number[]>
  /** Sum over all runs, by arm. */
  seconds: Record<string, number>
}

/** Runs every arm with every seed in worker processes with one thread each, seeds of one arm after another. */
export async function runPaper(paper: Paper, options: PaperRunOptions): Promise<PaperScores> {
  const { file, quick = false, workers = availableParallelism(), done = [], onScore } = options
  const seeds = quick ? 1 : paper.seeds
  const isDone = (job: PaperJob): boolean =>
    done.some(({ arm, seed }) => arm === job.arm && seed === job.seed)
  const jobs = Object.keys(paper.arms)
    .flatMap((arm) => Array.from({ length: seeds }, (_, i): PaperJob => ({ file, arm, seed: i + 1, quick })))
    .filter((job) => !isDone(job))
  const result: PaperScores = { scores: {}, seconds: {} }
  for (const arm of Object.keys(paper.arms)) {
    result.scores[arm] = Array.from({ length: seeds }, () => Number.NaN)
    result.seconds[arm] = 0
  }
  const add = ({ arm, seed, score, seconds }: Scored): void => {
    result.scores[arm][seed - 1] = score
    result.seconds[arm] += seconds
  }
  for (const scored of done) add(scored)
  // A failure ends the other processes too.
  const failed = new AbortController()
  const signal = AbortSignal.any([failed.signal, ...(options.signal === undefined ? [] : [options.signal])])
  let next = 0
  let left = jobs.length
  const runJobs = async (): Promise<void> => {
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
    await Promise.all(Array.from({ length: Math.min(workers, jobs.length) }, runJobs))
  } catch (error) {
    failed.abort(error)
    // A worker that is ended says so in its own way.
    options.signal?.throwIfAborted()
    throw error
  }
  return result
}

type Answer = { score: number; seconds: number } | { error: string }

interface PaperWorker {
  run(job: PaperJob): Promise<{ score: number; seconds: number }>
  end(): void
}

/** A process that does one job after another. */
function startWorker({ worker, execArgv = [], signal }: PaperRunOptions): PaperWorker {
  let asked:
    | {
        job: PaperJob
        resolve: (done: { score: number; seconds: number }) => void
        reject: (why: unknown) => void
      }
    | undefined
  const child = fork(worker, {
    execArgv: [...execArgv],
    env: { ...process.env, AGOGE_THREADS: '1' },
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
    if (!Number.isFinite(answer.score)) return fail(broken(job, `the score is ${answer.score}`))
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
