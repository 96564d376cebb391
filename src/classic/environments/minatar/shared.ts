import {
  type ArraySpace,
  box,
  type ContextFeature,
  discrete,
  type Drawing,
  type DrawnShape,
  type EnvArrays,
  type EnvironmentRandom,
} from '../../environment/index.ts'

/** Rows and columns of the board of every game. */
export const side = 10
const area = side * side
/** The largest index of a row or column. */
export const last = side - 1

/** The six actions of every game, by name. Actions that a game has no use for do nothing in it. */
export const moves = { none: 0, left: 1, up: 2, right: 3, down: 4, fire: 5 } as const
export const moveSpace: ArraySpace = discrete(6)

/**
 * Steps after which an episode is cut off. The reference has no such limit: good players of most games never end, nor does
 * a submarine that stays at the surface.
 */
export const maxSteps = 5000

export const stickiness: ContextFeature = {
  default: 0.1,
  low: 0,
  high: 0.25,
  extrapolate: [0, 0.5],
  about: 'probability of repeating the last action',
}

export const ramping: ContextFeature = {
  default: 1,
  low: 0,
  high: 1,
  integer: true,
  about: '1: the game becomes harder with time, 0: it stays as it begins',
}

/**
 * The action that is executed: the chosen one, or with probability `stickiness` the one executed before. `at` is the index in
 * the state that holds the latter. A new episode begins with `none` there.
 */
export function executedAction(
  { state, actions }: EnvArrays,
  i: number,
  at: number,
  probability: number,
  random: EnvironmentRandom,
): number {
  if (random.random() >= probability) state[at] = actions[i]
  return state[at]
}

/** A value that is kept on the board. */
export const onBoard = (value: number): number => Math.max(0, Math.min(last, value))

/** Whether a column or row is outside the board. */
export const isOutside = (value: number): boolean => value < 0 || value > last

/** The planes that a game shows, in their order: a character and a colour for frames. */
export type Planes = Readonly<Record<string, readonly [character: string, colour: string]>>

/** The observation of a game: [planes, 10, 10], zeros and ones, rows from the top. */
export const planeSpace = (planes: Planes): ArraySpace => box([Object.keys(planes).length, side, side], 0, 1)

/** Sets a cell of a plane to 1. `row` is where the observation of the environment begins. */
export function setCell(observations: Float32Array, row: number, plane: number, x: number, y: number): void {
  observations[row + plane * area + y * side + x] = 1
}

/** Clears the observation of environment i and returns where it begins. */
export function clearPlanes({ observations, count }: EnvArrays, i: number): number {
  const size = observations.length / count
  observations.fill(0, i * size, (i + 1) * size)
  return i * size
}

/** `text` and `draw` of a game. Where planes overlap, the later one is shown. */
export function framesOf(
  planes: Planes,
  observe: (envs: EnvArrays, i: number) => void,
): { text: (envs: EnvArrays, i: number) => string; draw: (envs: EnvArrays, i: number) => Drawing } {
  const looks = Object.values(planes)
  /** The plane that is shown in each cell, or -1. */
  function shown(envs: EnvArrays, i: number): number[] {
    const size = looks.length * area
    // A copy: drawing changes no observation.
    const observations = new Float32Array(envs.count * size)
    observe({ ...envs, observations }, i)
    return Array.from({ length: area }, (_, cell) =>
      looks.findLastIndex((_look, plane) => observations[i * size + plane * area + cell] === 1),
    )
  }
  return {
    text: (envs, i) => {
      const characters = shown(envs, i).map((plane) => looks[plane]?.[0] ?? '.')
      return Array.from({ length: side }, (_, y) => characters.slice(y * side, (y + 1) * side).join('')).join(
        '\n',
      )
    },
    draw: (envs, i) => ({
      view: [0, 0, side, side],
      shapes: [
        { type: 'rectangle', x: 0, y: 0, width: side, height: side, fill: '#14161a' },
        ...shown(envs, i).flatMap((plane, cell): DrawnShape[] =>
          plane < 0
            ? []
            : [
                {
                  type: 'rectangle',
                  x: cell % side,
                  y: last - Math.floor(cell / side),
                  width: 1,
                  height: 1,
                  fill: looks[plane][1],
                },
              ],
        ),
      ],
    }),
  }
}
