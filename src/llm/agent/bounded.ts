/**
 * Runs `work` on every item, at most `width` at a time, started in order. After an error, starts no more and rejects once the
 * running ones have ended.
 */
export async function forEachBounded<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0
  let failed = false
  async function worker(): Promise<void> {
    while (next < items.length && !failed) {
      try {
        await work(items[next++])
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  const workers = await Promise.allSettled(
    Array.from({ length: Math.min(Math.max(width, 1), items.length) }, worker),
  )
  for (const result of workers) if (result.status === 'rejected') throw result.reason
}
