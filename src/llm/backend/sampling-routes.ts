/** How much more than its even share of rows a part may get before the rest goes elsewhere. */
const slack = 1.15
/** Prompts that are remembered at most. */
const mostKnown = 100_000

/**
 * Deals prompts out to samplers with a cache each: a prompt goes where its longest known beginning went, so that what is
 * cached is found again, else where there is least to do. A function of the prompts so far.
 */
export function createRoutes(parts: number) {
  const known = new Map<number, number>()
  return {
    /** The part, 0 to parts - 1, of each prompt. */
    assign(prompts: readonly Int32Array[]): number[] {
      if (known.size > mostKnown) known.clear()
      const loads = Array.from({ length: parts }, () => 0)
      const most = Math.ceil((prompts.length / parts) * slack)
      return prompts.map((prompt) => {
        let hash = 0
        let found: number | undefined
        let name = 0
        for (let i = 0; i < prompt.length; i++) {
          hash = Math.imul(hash ^ prompt[i], 0x01000193) + 0x9e3779b9
          name = i * 2 ** 32 + (hash >>> 0)
          found = known.get(name) ?? found
        }
        const part = found !== undefined && loads[found] < most ? found : loads.indexOf(Math.min(...loads))
        loads[part]++
        known.set(name, part)
        return part
      })
    },
    clear: () => known.clear(),
  }
}
