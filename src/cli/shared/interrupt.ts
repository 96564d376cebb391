/** The reason of an abort by Ctrl-C or another signal. */
export class Interrupted extends Error {
  constructor(signal: string) {
    super(`interrupted by ${signal}`)
    this.name = 'Interrupted'
  }
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Exit code of an interrupted command, by the convention of shells. */
export const interruptedCode = 130

/**
 * Watches for Ctrl-C. The first one aborts, so that work can stop at a safe moment; the second exits at once. Servers
 * started by this process are killed when it exits.
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
