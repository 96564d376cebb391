import { AgogeError } from '../../error.ts'
import type { FromSeedProcess, ToSeedProcess } from './seed-processes.ts'
import { trainNamed } from './find-run.ts'

/**
 * A process that trains seeds, one after another. It receives a run, sends its events and its summary, and waits for
 * the next run. It saves and stops on request, or when the parent ends.
 */
const stop = new AbortController()
process.on('SIGINT', () => {}) // Ctrl-C goes to the parent, which stops this process.
process.on('disconnect', () => stop.abort(new Error('the parent process has ended')))
process.on('message', (message: ToSeedProcess) => {
  if (message.type === 'stop') stop.abort(new Error('stopped'))
  else if (message.type === 'close') process.disconnect()
  else void work(message)
})

async function work({ run, events }: Extract<ToSeedProcess, { type: 'run' }>): Promise<void> {
  try {
    const summary = await trainNamed({
      ...run,
      signal: stop.signal,
      ...(events ? { onEvent: (event) => tell({ type: 'event', event }) } : {}),
    })
    tell({ type: 'done', summary })
  } catch (error) {
    const details = AgogeError.isInstance(error)
      ? { code: error.code, given: error.given, expected: error.expected, hint: error.hint }
      : {}
    tell({ type: 'failed', message: error instanceof Error ? error.message : String(error), details })
  }
}

function tell(message: FromSeedProcess): void {
  if (process.connected) process.send?.(message)
}
