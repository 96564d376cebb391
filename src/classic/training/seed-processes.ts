import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import type { ErrorCode } from '../../error.ts'
import type { TrainingEvent } from '../../runs/run-folder.ts'
import type { TrainNamedOptions } from './find-run.ts'
import type { ClassicSummary } from './types.ts'

/** The run of one seed, as it is sent to a process. */
export type SeedRun = Omit<TrainNamedOptions, 'onEvent' | 'signal' | 'batch'>

/** `events`: whether to send the events of the runs. `stop` ends the runs in progress, `close` the process. */
export type ToSeedProcess =
  | { type: 'runs'; runs: readonly SeedRun[]; batched: boolean; events: boolean }
  | { type: 'stop' }
  | { type: 'close' }

export type FromSeedProcess =
  | { type: 'event'; seed: number; event: TrainingEvent }
  | { type: 'done'; summary: ClassicSummary }
  | {
      type: 'failed'
      seed: number
      message: string
      details: { code?: string; given?: unknown; expected?: string | undefined; hint?: string | undefined }
    }

/** A process that trains seeds, one after another or in batches. */
export interface SeedProcess {
  /**
   * Trains one seed, or those of a batch. Returns their summaries in the same order. Call it again only when these are
   * done.
   *
   * @throws AgogeError of the first run that fails; `seed-process` if the process ends without a result.
   * @throws the reason of the signal, once it is aborted, after saving the run.
   */
  train(
    runs: readonly SeedRun[],
    onEvent: (seed: number, event: TrainingEvent) => void,
  ): Promise<ClassicSummary[]>
  /** Ends the process. Resolves when it has ended. */
  close(): Promise<void>
}

const isSource = import.meta.url.endsWith('.ts')
const script = fileURLToPath(new URL(`./seed-process.${isSource ? 'ts' : 'js'}`, import.meta.url))

/**
 * Starts a process that trains seeds. Seeds of different processes share no runtime.
 *
 * @param signal stops the runs in progress at a step where they can be resumed.
 * @param options.batched whether the runs of a call are a batch; otherwise a call has one
 */
export function openSeedProcess(
  signal: AbortSignal,
  { batched, events }: { batched: boolean; events: boolean },
): SeedProcess {
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
  signal.addEventListener('abort', stop, { once: true })
  let end: string | undefined
  let receive: (message: FromSeedProcess | null) => void = () => {}
  const ended = new Promise<void>((resolve) => {
    const finish = (how: string): void => {
      end = how
      receive(null)
      resolve()
    }
    child.on('error', (error) => finish(error.message))
    child.on('close', (code, killed) => finish(killed ?? `exit code ${code}`))
  })
  child.on('message', (message: FromSeedProcess) => receive(message))
  return {
    train: (runs, onEvent) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted()
        if (end !== undefined) throw failure(runs[0].seed, runs[0].out, null, end)
        const done = new Map<number, ClassicSummary>()
        receive = (message) => {
          if (message?.type === 'event') onEvent(message.seed, message.event)
          else if (message?.type === 'done') {
            done.set(message.summary.seed, message.summary)
            if (done.size < runs.length) return
            receive = () => {}
            resolve(runs.map(({ seed }) => done.get(seed)!))
          } else {
            const seed = message?.seed ?? runs.find((run) => !done.has(run.seed))!.seed
            const { out } = runs.find((run) => run.seed === seed)!
            reject(signal.aborted ? (signal.reason as Error) : failure(seed, out, message, end ?? ''))
          }
        }
        tell({ type: 'runs', runs, batched, events })
      }),
    async close() {
      signal.removeEventListener('abort', stop)
      // The process disconnects itself: Node emits no `close` for a process that its parent has disconnected.
      tell({ type: 'close' })
      await ended
    },
  }
}

function failure(
  seed: number,
  out: string | undefined,
  outcome: Extract<FromSeedProcess, { type: 'failed' }> | null,
  end: string,
): AgogeError {
  if (outcome === null) {
    return new AgogeError(`The process of seed ${seed} ended without a result`, {
      code: 'seed-process',
      given: end,
      expected: 'a summary',
      ...(out === undefined ? {} : { hint: `What it finished is in ${out}; resume with --resume` }),
    })
  }
  const { code, given, expected, hint } = outcome.details
  return new AgogeError(`Seed ${seed}: ${outcome.message}`, {
    code: (code as ErrorCode | undefined) ?? 'seed-process',
    given,
    ...defined({ expected, hint }),
  })
}
