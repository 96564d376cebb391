/**
 * The distribution of `reward + discount * z`, where z has `probabilities` over `support`, brought back onto the
 * support: each mass is shared by the two nearest atoms, in proportion to its nearness (Bellemare, Dabney & Munos 2017,
 * algorithm 1). Writes row `row` of `to` [rows, atoms].
 *
 * @param support evenly spaced and rising, at least 2 atoms
 */
export function projectDistribution(
  probabilities: ArrayLike<number>,
  support: Float64Array,
  reward: number,
  discount: number,
  to: Float32Array,
  row: number,
): void {
  const atoms = support.length
  const low = support[0]
  const spacing = (support[atoms - 1] - low) / (atoms - 1)
  const at = row * atoms
  to.fill(0, at, at + atoms)
  for (let k = 0; k < atoms; k++) {
    const place = Math.max(0, Math.min(atoms - 1, (reward + discount * support[k] - low) / spacing))
    const lower = Math.floor(place)
    const share = place - lower
    to[at + lower] += (1 - share) * probabilities[k]
    if (share > 0) to[at + lower + 1] += share * probabilities[k]
  }
}
