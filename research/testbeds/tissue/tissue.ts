import { defineEnvironment, discrete } from 'agoge/classic'
import { createRandom } from 'agoge/engine'

const size = 8
const cells = size ** 3
/** Opposite directions stand side by side, so that `direction ^ 1` is the way back. */
const moves = [1, -1, size, -size, size * size, -size * size]
/** Each reading of the biomarker has an error of a few percent. */
const noise = 0.05

/** The neighbour in a direction, or the cell itself at the edge. */
function neighbour(cell: number, direction: number): number {
  const stride = Math.abs(moves[direction])
  const place = Math.floor(cell / stride) % size
  const stays = moves[direction] > 0 ? place === size - 1 : place === 0
  return stays ? cell : cell + moves[direction]
}

/** A block of tissue. Robots cannot enter every third cell; the biomarker spreads from the tumour through all cells. */
function tissue(seed: number) {
  const random = createRandom('tissue', seed)
  const tumour = random.int(cells)
  let field = new Float64Array(cells)
  for (let sweep = 0; sweep < 100; sweep++) {
    const before = field
    field = before.map((_, cell) =>
      cell === tumour ? 1 : moves.reduce((sum, _move, d) => sum + 0.95 * before[neighbour(cell, d)], 0) / 6,
    )
  }
  // Drawn again where barriers shut the tumour in. Robots start where a way leads to it.
  for (;;) {
    const blocked = Uint8Array.from({ length: cells }, (_, cell) =>
      cell !== tumour && random.next() < 1 / 3 ? 1 : 0,
    )
    const reached = new Set([tumour])
    for (const cell of reached)
      for (let d = 0; d < 6; d++) if (blocked[neighbour(cell, d)] === 0) reached.add(neighbour(cell, d))
    if (reached.size > cells / 3) return { tumour, field, blocked, starts: [...reached].slice(1) }
  }
}

/**
 * A search in one of some tissues. Actions: towards the k-th highest reading among the neighbours. Observation: which of these are
 * blocked, and which of them leads back to where the robot comes from: what it senses, not where it is. Reward: what the logarithm of the
 * concentration gains, less the cost of a step.
 */
export function search(from: number, tissues: number) {
  const blocks = Array.from({ length: tissues }, (_, k) => tissue(from + k))
  /** Tissue, cell, last direction (6 at the start), and the six directions by reading. */
  const width = 9
  return defineEnvironment({
    name: 'tissue',
    observation: discrete(64 * 7),
    action: discrete(6),
    context: {},
    stateSize: width,
    maxSteps: 100,
    reset({ state }, i, random) {
      const block = random.integers(tissues)
      const { starts } = blocks[block]
      state[i * width] = block
      state[i * width + 1] = starts[random.integers(starts.length)]
      state[i * width + 2] = 6
      rank(state, i, random)
    },
    step({ state, actions, rewards, terminated }, i, random) {
      const s = i * width
      const direction = state[s + 3 + actions[i]]
      const { blocked, tumour, field } = blocks[state[s]]
      const before = field[state[s + 1]]
      const next = neighbour(state[s + 1], direction)
      if (next !== state[s + 1] && blocked[next] === 0) {
        state[s + 1] = next
        state[s + 2] = direction
      }
      terminated[i] = state[s + 1] === tumour ? 1 : 0
      rewards[i] = Math.log(field[state[s + 1]] / before) - 0.2
      rank(state, i, random)
    },
    observe({ state, observations }, i) {
      const s = i * width
      let [mask, back] = [0, 6]
      for (let k = 0; k < 6; k++) {
        const direction = state[s + 3 + k]
        const next = neighbour(state[s + 1], direction)
        if (next === state[s + 1] || blocks[state[s]].blocked[next] === 1) mask += 2 ** k
        if (state[s + 2] < 6 && direction === (state[s + 2] ^ 1)) back = k
      }
      observations[i] = 7 * mask + back
    },
  })

  /** Reads the biomarker in the neighbours and writes the directions, highest reading first. */
  function rank(state: Float64Array, i: number, random: { normal(): number }): void {
    const s = i * width
    const { field } = blocks[state[s]]
    const readings = moves.map((_, d) => field[neighbour(state[s + 1], d)] * (1 + noise * random.normal()))
    const order = [0, 1, 2, 3, 4, 5].toSorted((a, b) => readings[b] - readings[a])
    for (let k = 0; k < 6; k++) state[s + 3 + k] = order[k]
  }
}
