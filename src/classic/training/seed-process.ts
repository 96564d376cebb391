import { AgogeError } from '../../error.ts'
import type { FromSeedProcess, ToSeedProcess } from './train-seeds.ts'
import { trainNamed } from './find-run.ts'

/**
 * One seed in its own process. It receives its run, and sends events and the summary. It saves and stops on
 * request, or when the parent ends.
 */
const stop = new AbortController()
process.on('SIGINT', () => {}) // Ctrl-C goes to the parent, which stops this process.
process.on('disconnect', () => stop.abort(new Error('the parent process has ended')))
process.on('message', (message: ToSeedProcess) => {
  if (message.type === 'stop') stop.abort(new Error('stopped'))
  else void work(message)
})

async function work({ run }: Extract<ToSeedProcess, { type: 'run' }>): Promise<void> {
  try {
    const summary = await trainNamed({
      ...run,
      signal: stop.signal,
      onEvent: (event) => tell({ type: 'event', event }),
    })
    tell({ type: 'done', summary })
  } catch (error) {
    const details = AgogeError.isInstance(error)
      ? { code: error.code, given: error.given, expected: error.expected, hint: error.hint }
      : {}
    tell({ type: 'failed', message: error instanceof Error ? error.message : String(error), details })
  }
  if (process.connected) process.disconnect()
}

function tell(message: FromSeedProcess): void {
  if (process.connected) process.send?.(message)
}
