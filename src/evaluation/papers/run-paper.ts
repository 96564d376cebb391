import { fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { AgogeError } from '../../error.ts'
import type { Paper } from './paper.ts'

/** One arm with one seed, as it is told to a worker process. */
export interface PaperJob {
  file: string
  arm: string
  seed: number
  quick: boolean
}

export interface PaperRunOptions {
  /** The module whose default export is the paper. */
  file: string
  /** What a worker process runs; it takes one `PaperJob` as message and answers `{ score, seconds }` or `{ error }`. */
  worker: string
  /** Arguments for Node before the worker, such as a loader. */
  execArgv?: readonly string[]
  quick?: boolean
  /** Default: the number of cores. */
  workers?: number
  onScore?: (done: { arm: string; seed: number; score: number; seconds: number; left: number }) => void
  signal?: AbortSignal
}

export interface PaperScores {
  /** By arm, in the order of the seeds. */
  scores: Record<string, number[]>
  /** Sum over all runs, by arm. */
  seconds: Record<string, number>
}

/** Runs every arm with every seed in worker processes of one thread each, seeds of one arm after another. */
export async function runPaper(paper: Paper, options: PaperRunOptions): Promise<PaperScores> {
  const { file, quick = false, workers = availableParallelism(), onScore, signal } = options
  const seeds = quick ? 1 : paper.seeds
  const jobs = Object.keys(paper.arms).flatMap((arm) =>
    Array.from({ length: seeds }, (_, i): PaperJob => ({ file, arm, seed: i + 1, quick })),
  )
  const result: PaperScores = { scores: {}, seconds: {} }
  for (const arm of Object.keys(paper.arms)) {
    result.scores[arm] = Array.from({ length: seeds }, () => Number.NaN)
    result.seconds[arm] = 0
  }
  let next = 0
  let left = jobs.length
  const lane = async (): Promise<void> => {
    while (next < jobs.length) {
      signal?.throwIfAborted()
      const job = jobs[next++]
      const { score, seconds } = await runJob(job, options)
      result.scores[job.arm][job.seed - 1] = score
      result.seconds[job.arm] += seconds
      onScore?.({ arm: job.arm, seed: job.seed, score, seconds, left: --left })
    }
  }
  await Promise.all(Array.from({ length: Math.min(workers, jobs.length) }, lane))
  return result
}

type Answer = { score: number; seconds: number } | { error: string }

function runJob(job: PaperJob, options: PaperRunOptions): Promise<{ score: number; seconds: number }> {
  const { worker, execArgv = [], signal } = options
  return new Promise((resolve, reject) => {
    const child = fork(worker, {
      execArgv: [...execArgv],
      env: { ...process.env, AGOGE_THREADS: '1' },
      ...(signal === undefined ? {} : { signal }),
    })
    let answered = false
    child.once('message', (message) => {
      answered = true
      const answer = message as Answer
      if ('error' in answer) reject(broken(job, answer.error))
      else if (Number.isFinite(answer.score)) resolve(answer)
      else reject(broken(job, `the score is ${answer.score}`))
      child.kill()
    })
    child.once('error', reject)
    child.once('exit', (code) => {
      if (!answered) reject(broken(job, `the worker ended with code ${code}`))
    })
    child.send(job)
  })
}

const broken = ({ file, arm, seed }: PaperJob, reason: string): AgogeError =>
  new AgogeError(`arm "${arm}" with seed ${seed} of ${file} gave no score: ${reason}`, {
    code: 'arm-failed',
    given: reason,
    expected: 'a finite number',
  })
