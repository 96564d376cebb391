import { AgogeError } from '../../../error.ts'
import { createPcg64 } from '../../../engine/random/index.ts'

/** Rows of tiles: S start, F frozen, H hole, G goal. */
export type LakeMap = readonly string[]

export const smallLake: LakeMap = ['SFFF', 'FHFH', 'FFFH', 'HFFG']

export const largeLake: LakeMap = [
  'SFFFFFFF',
  'FFFFFFFF',
  'FFFHFFFF',
  'FFFFFHFF',
  'FFFHFFFF',
  'FHHFFFHF',
  'FHFFHFHF',
  'FFFHFFFG',
]

/** Tiles as numbers. */
export const tile = { frozen: 0, start: 1, hole: 2, goal: 3 } as const
const letters = 'FSHG'

export const tileLetter = (value: number): string => letters[value]

/**
 * The tiles of a map, row by row.
 * @throws AgogeError `bad-map` for rows of different lengths, unknown letters, or no start.
 */
export function readLake(map: LakeMap): Uint8Array {
  const tiles = Array.from(map.join(''), (letter) => letters.indexOf(letter))
  const even = map.every((row) => row.length === map[0].length)
  if (!even || tiles.includes(-1) || !tiles.includes(tile.start)) {
    throw new AgogeError('not a map of a frozen lake', {
      code: 'bad-map',
      given: map,
      expected: 'rows of one length out of S, F, H and G, with at least one S',
    })
  }
  return Uint8Array.from(tiles)
}

/**
 * A random square map with a way from the upper left to the lower right, tile for tile that of Gymnasium 1.3's
 * `generate_random_map(size, frozen, seed)`.
 * @param frozen the probability that a tile is frozen
 */
export function generateLake(size: number, frozen: number, seed: number): Uint8Array {
  const generator = createPcg64(seed)
  const rate = Math.min(1, frozen)
  const threshold = rate / (rate + (1 - rate))
  const tiles = new Uint8Array(size * size)
  do {
    for (let k = 0; k < tiles.length; k++) tiles[k] = generator.random() < threshold ? tile.frozen : tile.hole
    tiles[0] = tile.start
    tiles[tiles.length - 1] = tile.goal
  } while (!crossable(tiles, size))
  return tiles
}

function crossable(tiles: Uint8Array, size: number): boolean {
  const seen = new Uint8Array(tiles.length)
  const open = [0]
  while (open.length > 0) {
    const cell = open.pop() as number
    if (tiles[cell] === tile.goal) return true
    if (seen[cell] === 1 || tiles[cell] === tile.hole) continue
    seen[cell] = 1
    const column = cell % size
    if (column > 0) open.push(cell - 1)
    if (column < size - 1) open.push(cell + 1)
    if (cell >= size) open.push(cell - size)
    if (cell < size * (size - 1)) open.push(cell + size)
  }
  return false
}
