import { createBatch, type BatchMember } from '../../engine/nn/index.ts'
import { AgogeError } from '../../error.ts'
import type { FromSeedProcess, SeedRun, ToSeedProcess } from './seed-processes.ts'
import { trainNamed } from './find-run.ts'

/**
 * A process that trains seeds. It receives the run of a seed, or those of a batch, sends their events and summaries, and
 * waits for more. It saves and stops on request, or when the parent ends.
 */
const stop = new AbortController()
process.on('SIGINT', () => {}) // Ctrl-C goes to the parent, which stops this process.
process.on('disconnect', () => stop.abort(new Error('the parent process has ended')))
process.on('message', (message: ToSeedProcess) => {
  if (message.type === 'stop') stop.abort(new Error('stopped'))
  else if (message.type === 'close') process.disconnect()
  else void work(message)
})

async function work({ runs, batched, events }: Extract<ToSeedProcess, { type: 'runs' }>): Promise<void> {
  // Also of a single run, so that its numbers are those that it has beside others.
  const members = batched ? createBatch(runs.length) : []
  await Promise.all(runs.map((run, i) => train(run, events, members[i]).finally(() => members[i]?.leave())))
}

async function train(run: SeedRun, events: boolean, batch: BatchMember | undefined): Promise<void> {
  const { seed } = run
  try {
    const summary = await trainNamed({
      ...run,
      signal: stop.signal,
      ...(batch === undefined ? {} : { batch }),
      ...(events ? { onEvent: (event) => tell({ type: 'event', seed, event }) } : {}),
    })
    tell({ type: 'done', summary })
  } catch (error) {
    const details = AgogeError.isInstance(error)
      ? { code: error.code, given: error.given, expected: error.expected, hint: error.hint }
      : {}
    tell({ type: 'failed', seed, message: error instanceof Error ? error.message : String(error), details })
  }
}

function tell(message: FromSeedProcess): void {
  if (process.connected) process.send?.(message)
}
