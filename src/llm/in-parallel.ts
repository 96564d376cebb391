/**
 * Runs `work` on every item, at most `width` at a time and at least one, started in order.
 *
 * @returns the results, in the order of the items.
 * @throws the first error, once the running ones have ended; no more are started after it.
 */
export async function inParallel<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  let next = 0
  let failed = false
  const workers = Array.from({ length: Math.min(Math.max(width, 1), items.length) }, async () => {
    while (next < items.length && !failed) {
      const at = next++
      try {
        results[at] = await work(items[at])
      } catch (error) {
        failed = true
        throw error
      }
    }
  })
  const ended = await Promise.allSettled(workers)
  const fault = ended.find((each) => each.status === 'rejected')
  if (fault !== undefined) throw fault.reason
  return results
}
