/** The reason of an abort by Ctrl-C or a signal from outside. */
export class Interrupted extends Error {
  constructor(signal: string) {
    super(`interrupted by ${signal}`)
    this.name = 'Interrupted'
  }
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Exit code of an interrupted command, as shells know it. */
export const interruptedCode = 130

/**
 * Turns the first Ctrl-C into an abort, so that work can stop at a safe moment, and the second into an immediate end. Servers started by
 * this process are killed when it exits, either way.
 */
export function watchInterrupts(onFirst: () => void): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController()
  const listener = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(interruptedCode)
    onFirst()
    controller.abort(new Interrupted(name))
  }
  for (const name of signals) process.on(name, listener)
  return {
    signal: controller.signal,
    stop: () => {
      for (const name of signals) process.off(name, listener)
    },
  }
}
