/** Runs work on all items, at most `width` at a time, begun in their order; the first failure is thrown when all have ended. */
export async function inParallel<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  let next = 0
  let failed = false
  const lanes = Array.from({ length: Math.min(width, items.length) }, async () => {
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
  const ended = await Promise.allSettled(lanes)
  const fault = ended.find((each) => each.status === 'rejected')
  if (fault !== undefined) throw fault.reason
  return results
}
