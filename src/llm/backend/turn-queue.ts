/** Tasks `alone` run one after the other; tasks `together` may overlap each other, but no task that is alone. First come, first served. */
export interface TurnQueue {
  readonly alone: <T>(task: () => Promise<T>) => Promise<T>
  readonly together: <T>(task: () => Promise<T>) => Promise<T>
}

/** A queue in which a task runs whatever became of those before. */
export function createTurnQueue(): TurnQueue {
  let lastAlone: Promise<unknown> = Promise.resolve()
  /** Of those that came after it. */
  const together = new Set<Promise<unknown>>()
  return {
    alone(task) {
      const before = Promise.all([lastAlone, ...together])
      together.clear()
      const next = before.then(task)
      lastAlone = next.catch(() => {})
      return next
    },
    together(task) {
      const next = lastAlone.then(task)
      const ended = next.catch(() => {}).then(() => void together.delete(ended))
      together.add(ended)
      return next
    },
  }
}
