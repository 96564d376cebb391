/**
 * Weights of a fixed number of entries. Samples an entry in proportion to its weight in O(log n) (Schaul et al.
 * 2016, appendix B.2.1). Every change recomputes sums from their two parts, so rounding errors do not
 * accumulate.
 */
export interface SumTree {
  total(): number
  get(index: number): number
  set(index: number, weight: number): void
  /** The entry at position `mass`, in [0, total), of the cumulative weights. */
  find(mass: number): number
  /** Weights of the first `count` entries. */
  weights(count: number): Float64Array
}

export function createSumTree(entries: number): SumTree {
  let leaves = 1
  while (leaves < entries) leaves *= 2
  // Node i has the children 2i and 2i + 1; the root is 1, entries begin at `leaves`.
  const sums = new Float64Array(2 * leaves)
  return {
    total: () => sums[1],
    get: (index) => sums[leaves + index],
    set(index, weight) {
      let node = leaves + index
      sums[node] = weight
      for (node >>= 1; node >= 1; node >>= 1) sums[node] = sums[2 * node] + sums[2 * node + 1]
    },
    find(mass) {
      let node = 1
      let left = mass
      while (node < leaves) {
        node *= 2
        // Rounding may place a mass past the end. Never selects an entry of weight 0.
        if (left >= sums[node] && sums[node + 1] > 0) {
          left -= sums[node]
          node++
        }
      }
      return node - leaves
    },
    weights: (count) => sums.slice(leaves, leaves + count),
  }
}
