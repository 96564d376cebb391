/** What the settings a computation depends on are: as of an arm of a paper. */
export interface Run {
  seed: number
  budget: Readonly<Record<string, number>>
  signal?: AbortSignal
}

/** A computation that several arms of a paper begin with, done once for each run in a process, whatever its signal. */
export function remember<R extends Run, T>(make: (run: R) => Promise<T>): (run: R) => Promise<T> {
  const made = new Map<string, Promise<T>>()
  return (run) => {
    const key = JSON.stringify({ ...run, signal: undefined })
    const known = made.get(key) ?? make(run)
    made.set(key, known)
    return known
  }
}
