import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { startCli } from '../run-cli.ts'

/** When a run is killed. */
export interface Moment {
  /** `training`: counted from the first line of metrics that this process writes. `start`: from its start. */
  after: 'start' | 'training'
  milliseconds: number
}

export interface Killed {
  /** Whether it was killed; otherwise it had ended before. */
  killed: boolean
  /** Whether it had trained in this process or in an earlier one when it was killed. */
  trained: boolean
  /** Its exit code, if it had ended. */
  code: number | null
  stderr: string
}

export interface Victim {
  cwd: string
  env?: Readonly<Record<string, string>>
  /** The run folder. */
  out: string
  /** The file in it that shows that training began. Default: `metrics.jsonl`. */
  progress?: string
  moment: Moment
  signal: AbortSignal
}

/** Starts a command line and kills it with all that it started (`kill -9`) at the moment. */
export async function killAt(
  args: readonly string[],
  { cwd, env = {}, out, progress = 'metrics.jsonl', moment, signal }: Victim,
): Promise<Killed> {
  const metrics = join(out, progress)
  const size = (): number => statSync(metrics, { throwIfNoEntry: false })?.size ?? 0
  const before = size()
  const run = startCli(args, { cwd, env })
  signal.addEventListener('abort', run.kill)
  const state = { over: false }
  const ended = run.ended.finally(() => (state.over = true))
  try {
    // A resumed run first cuts its metrics to the length at its checkpoint; what it writes then is new.
    let least = before
    while (moment.after === 'training' && !state.over && size() <= least) {
      least = Math.min(least, size())
      await wait(5)
    }
    await Promise.race([wait(moment.milliseconds), ended])
    const alive = !state.over
    run.kill()
    const { code, stderr } = await ended
    return { killed: alive && code === null, trained: before > 0 || existsSync(metrics), code, stderr }
  } finally {
    signal.removeEventListener('abort', run.kill)
    run.kill()
  }
}
