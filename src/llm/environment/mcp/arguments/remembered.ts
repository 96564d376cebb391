/** Texts whose results are kept. Beyond it all are forgotten, so that no server fills the memory with names. */
const mostTexts = 5000

/**
 * Returns a function that works out its result once for each text and then returns the same object. For functions of a name,
 * which are called for each property of each known record.
 */
export function remembered<T>(workOut: (text: string) => T): (text: string) => T {
  const results = new Map<string, T>()
  return (text) => {
    const known = results.get(text)
    if (known !== undefined) return known
    if (results.size >= mostTexts) results.clear()
    const result = workOut(text)
    results.set(text, result)
    return result
  }
}
