import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { AgogeError } from '../../error.ts'
import type { TrainingEvent } from '../../runs/events.ts'
import type { FromSeedProcess, ToSeedProcess } from './seed-messages.ts'
import type { TrainNamedOptions } from './train-named.ts'
import type { ClassicSummary } from './types.ts'

const isSource = import.meta.url.endsWith('.ts')
const script = fileURLToPath(new URL(`./seed-process.${isSource ? 'ts' : 'js'}`, import.meta.url))

/** Trains one seed in a process of its own, so that seeds share no runtime and use all cores. */
export function runSeed(
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
      hint: `What it finished is in ${out}; go on with --resume`,
    })
  }
  const { code, given, expected, hint } = outcome.details
  return new AgogeError(`Seed ${seed}: ${outcome.message}`, {
    code: code ?? 'seed-process',
    given,
    ...(expected === undefined ? {} : { expected }),
    ...(hint === undefined ? {} : { hint }),
  })
}
