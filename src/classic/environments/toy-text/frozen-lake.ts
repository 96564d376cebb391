import { createPcg64 } from '../../../engine/random/index.ts'
import { AgogeError } from '../../../error.ts'
import { threeWays } from '../../environment/finite-model.ts'
import {
  type Context,
  type ContextSpace,
  defineEnvironment,
  discrete,
  type FiniteDefinition,
  finiteModel,
  type FiniteModel,
  type TransitionOutcome,
} from '../../environment/index.ts'

/** Rows of tiles: S start, F frozen, H hole, G goal. */
export type LakeMap = readonly string[]

/** Gymnasium's map `4x4`. */
export const smallLake: LakeMap = ['SFFF', 'FHFH', 'FFFH', 'HFFG']

/** Gymnasium's map `8x8`. */
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
const tile = { frozen: 0, start: 1, hole: 2, goal: 3 } as const
const letters = 'FSHG'

export const tileLetter = (value: number): string => letters[value]

/**
 * The tiles of a map, row by row.
 *
 * @throws AgogeError `bad-map` for rows of different lengths, unknown letters, or no start
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
 * A random square map with a path from the upper left to the lower right. Equal to Gymnasium 1.3's
 * `generate_random_map(size, frozen, seed)`.
 *
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

const lakeFeatures = {
  successRate: {
    default: 1 / 3,
    low: 1 / 3,
    high: 1,
    extrapolate: [0.1, 1],
    about: 'probability of the intended direction; the two sides share the rest; 1: not slippery',
  },
  goalReward: { default: 1, low: 0.5, high: 2, extrapolate: [0, 10], about: 'for reaching the goal' },
  holeReward: { default: 0, low: -1, high: 0, extrapolate: [-10, 0], about: 'for falling into a hole' },
  stepReward: { default: 0, low: -0.1, high: 0, extrapolate: [-1, 0], about: 'for any other step' },
} satisfies ContextSpace

const layoutFeatures = {
  layout: {
    default: 0,
    low: 0,
    high: 999,
    extrapolate: [0, 1999],
    integer: true,
    about: 'seed of the map',
  },
  frozenRate: {
    default: 0.8,
    low: 0.7,
    high: 0.9,
    extrapolate: [0.6, 1],
    about: 'probability that a tile of the map is frozen, not a hole',
  },
} satisfies ContextSpace

/** The position of the tiles in the state. Before them: the cell, layout + 1 and frozenRate of these tiles. */
const firstTile = 3

/**
 * Walk over ice with holes, on a given map. Equal step for step and draw for draw to Gymnasium 1.3's
 * FrozenLake-v1. Actions: left, down, right, up. Observation: the cell, numbered row by row.
 *
 * @param maxSteps default: 100
 * @throws AgogeError `bad-map`
 */
export function frozenLakeOf(name: string, map: LakeMap, maxSteps = 100): FiniteDefinition {
  const tiles = readLake(map)
  return lakeEnvironment({
    name,
    maxSteps,
    rows: map.length,
    columns: map[0].length,
    tilesOf: () => tiles,
    features: lakeFeatures,
  })
}

/**
 * Frozen lakes of `size` x `size` with generated maps. The context gives the arguments of Gymnasium's
 * `generate_random_map(size, frozenRate, layout)`. The observation does not show the map. A reset that changes
 * the layout generates the map again, which takes as long as some thousand steps.
 */
export const generatedFrozenLake = (name: string, size: number, maxSteps = 100): FiniteDefinition =>
  lakeEnvironment({
    name,
    maxSteps,
    rows: size,
    columns: size,
    tilesOf: (layout, frozenRate) => generateLake(size, frozenRate, layout),
    features: { ...lakeFeatures, ...layoutFeatures },
  })

/** `frozenLakeOf` with `smallLake`, named `frozen-lake`. Time limit: 100 steps. */
export const frozenLake = frozenLakeOf('frozen-lake', smallLake)
/** `frozenLakeOf` with `largeLake`, named `frozen-lake-8x8`. Time limit: 200 steps. */
export const frozenLake8x8 = frozenLakeOf('frozen-lake-8x8', largeLake, 200)
/** `generatedFrozenLake` of size 5, named `frozen-lake-generated`. Time limit: 100 steps. */
export const frozenLakeGenerated = generatedFrozenLake('frozen-lake-generated', 5)

interface Lake {
  name: string
  maxSteps: number
  rows: number
  columns: number
  /** Layout and frozenRate of the context. Only generated lakes have them. */
  tilesOf: (layout: number, frozenRate: number) => Uint8Array
  features: ContextSpace
}

function lakeEnvironment({ name, maxSteps, rows, columns, tilesOf, features }: Lake): FiniteDefinition {
  const cells = rows * columns
  const stateSize = firstTile + cells
  const generated = 'layout' in features

  function move(cell: number, direction: number): number {
    switch (direction) {
      case 0:
        return cell % columns > 0 ? cell - 1 : cell
      case 1:
        return cell < cells - columns ? cell + columns : cell
      case 2:
        return cell % columns < columns - 1 ? cell + 1 : cell
      default:
        return cell >= columns ? cell - columns : cell
    }
  }

  const definition = defineEnvironment({
    name,
    observation: discrete(cells),
    action: discrete(4),
    context: features,
    stateSize,
    maxSteps,
    reset({ state, context }, i, random) {
      const s = i * stateSize
      const layout = generated ? context.layout[i] : 0
      const frozenRate = generated ? context.frozenRate[i] : 0
      if (state[s + 1] !== layout + 1 || state[s + 2] !== frozenRate) {
        state.set(tilesOf(layout, frozenRate), s + firstTile)
        state[s + 1] = layout + 1
        state[s + 2] = frozenRate
      }
      state[s] = drawStart(state, s + firstTile, cells, random.random())
    },
    step({ state, context, actions, rewards, terminated }, i, random) {
      const s = i * stateSize
      const draw = random.random()
      const tiles = s + firstTile
      if (state[tiles + state[s]] >= tile.hole) {
        rewards[i] = 0
        terminated[i] = 1
        return
      }
      const success = context.successRate[i]
      const side = (1 - success) / 2
      const direction = (actions[i] + threeWays(side, success, side, draw) + 3) % 4
      const cell = move(state[s], direction)
      const under = state[tiles + cell]
      state[s] = cell
      const reward =
        under === tile.goal
          ? context.goalReward
          : under === tile.hole
            ? context.holeReward
            : context.stepReward
      rewards[i] = reward[i]
      terminated[i] = under >= tile.hole ? 1 : 0
    },
    observe({ state, observations }, i) {
      observations[i] = state[i * stateSize]
    },
    text({ state }, i) {
      const s = i * stateSize
      let frame = ''
      for (let cell = 0; cell < cells; cell++) {
        if (cell > 0 && cell % columns === 0) frame += '\n'
        frame += cell === state[s] ? '@' : tileLetter(state[s + firstTile + cell])
      }
      return frame
    },
  })
  return {
    ...definition,
    transitions(context: Context = {}): FiniteModel {
      const value = (feature: string): number => context[feature] ?? features[feature].default
      const tiles = generated ? tilesOf(value('layout'), value('frozenRate')) : tilesOf(0, 0)
      const success = value('successRate')
      const side = (1 - success) / 2
      const outcome = (probability: number, state: number): TransitionOutcome => ({
        probability,
        state,
        reward: value(
          tiles[state] === tile.goal
            ? 'goalReward'
            : tiles[state] === tile.hole
              ? 'holeReward'
              : 'stepReward',
        ),
        terminated: tiles[state] >= tile.hole,
      })
      const starts = Array.from(tiles, (under) => (under === tile.start ? 1 : 0))
      const count = starts.filter((start) => start === 1).length
      return finiteModel({
        states: cells,
        actions: 4,
        start: starts.map((start) => start / count),
        outcomes(state, action) {
          if (tiles[state] >= tile.hole) return [{ probability: 1, state, reward: 0, terminated: true }]
          if (success === 1) return [outcome(1, move(state, action))]
          return [
            outcome(side, move(state, (action + 3) % 4)),
            outcome(success, move(state, action)),
            outcome(side, move(state, (action + 1) % 4)),
          ]
        },
      })
    },
  }
}

/** A uniformly random start tile. */
function drawStart(state: Float64Array, tiles: number, cells: number, draw: number): number {
  let count = 0
  for (let cell = 0; cell < cells; cell++) if (state[tiles + cell] === tile.start) count++
  let sum = 0
  for (let cell = 0; cell < cells; cell++) {
    if (state[tiles + cell] !== tile.start) continue
    sum += 1 / count
    if (sum > draw) return cell
  }
  return 0
}
