import { defineEnvironment, type EnvArrays } from '../../environment/index.ts'
import {
  clearPlanes,
  executedAction,
  framesOf,
  last,
  maxSteps,
  moves,
  moveSpace,
  onBoard,
  type Planes,
  planeSpace,
  setCell,
  side,
  stickiness,
} from './shared.ts'

const planes: Planes = {
  cannon: ['A', '#e8e4da'],
  alien: ['W', '#3a9d5d'],
  alienLeft: ['<', '#3a9d5d'],
  alienRight: ['>', '#3a9d5d'],
  shot: ['|', '#e0b030'],
  bomb: ['*', '#c8452d'],
}

/** Steps between two shots of the cannon, between two bombs, and between two moves of many aliens in the last waves. */
const shotInterval = 5
const bombInterval = 10
const fastest = 6
/** A new wave: columns 2 to 7 of the four highest rows. */
const wave = { rows: 4, columns: 0b0011111100 }

/** Where the state has what. Aliens, shots and bombs: ten rows each, a bit for every column. */
const at = {
  action: 0,
  x: 1,
  direction: 2,
  interval: 3,
  moveTimer: 4,
  bombTimer: 5,
  shotTimer: 6,
  aliens: 7,
  shots: 7 + side,
  bombs: 7 + 2 * side,
} as const
const stateSize = 7 + 3 * side

/** How many of ten bits are set. */
function bitCount(bits: number): number {
  let count = 0
  for (let left = bits; left !== 0; left &= left - 1) count++
  return count
}

function alienCount(state: Float64Array, s: number): number {
  let count = 0
  for (let y = 0; y < side; y++) count += bitCount(state[s + at.aliens + y])
  return count
}

/** The columns that have aliens. */
function alienColumns(state: Float64Array, s: number): number {
  let columns = 0
  for (let y = 0; y < side; y++) columns |= state[s + at.aliens + y]
  return columns
}

function newWave(state: Float64Array, s: number): void {
  state.fill(wave.columns, s + at.aliens, s + at.aliens + wave.rows)
}

/** Whether an alien is where the cannon is. */
const isReached = (state: Float64Array, s: number): boolean =>
  ((state[s + at.aliens + last] >> state[s + at.x]) & 1) === 1

/** Moves all aliens by one cell: sideways, or down at an edge. Returns whether they are past the lowest row. */
function moveAliens(state: Float64Array, s: number): boolean {
  const rows = s + at.aliens
  const direction = state[s + at.direction]
  const edge = direction < 0 ? 1 : 1 << last
  if ((alienColumns(state, s) & edge) === 0) {
    for (let y = 0; y < side; y++)
      state[rows + y] = direction < 0 ? state[rows + y] >> 1 : state[rows + y] << 1
    return false
  }
  state[s + at.direction] = -direction
  const lowest = state[rows + last]
  state.copyWithin(rows + 1, rows, rows + last)
  // The reference lets the lowest row come in again at the top. Its episode is over then.
  state[rows] = lowest
  return lowest !== 0
}

/** The lowest alien of the column nearest to the cannon drops a bomb; of two such columns, the left one. */
function dropBomb(state: Float64Array, s: number): void {
  const columns = alienColumns(state, s)
  const x = state[s + at.x]
  for (let distance = 0; distance < side; distance++) {
    for (const column of [x - distance, x + distance]) {
      if (column < 0 || ((columns >> column) & 1) === 0) continue
      let y = last
      while (((state[s + at.aliens + y] >> column) & 1) === 0) y--
      state[s + at.bombs + y] |= 1 << column
      return
    }
  }
}

/** Removes aliens with the shots that hit them. Returns how many. */
function hitAliens(state: Float64Array, s: number): number {
  let hits = 0
  for (let y = 0; y < side; y++) {
    const hit = state[s + at.aliens + y] & state[s + at.shots + y]
    if (hit === 0) continue
    hits += bitCount(hit)
    state[s + at.aliens + y] ^= hit
    state[s + at.shots + y] ^= hit
  }
  return hits
}

function moveCannon(state: Float64Array, s: number, action: number): void {
  if (action === moves.left) state[s + at.x] = onBoard(state[s + at.x] - 1)
  else if (action === moves.right) state[s + at.x] = onBoard(state[s + at.x] + 1)
  else if (action === moves.fire && state[s + at.shotTimer] === 0) {
    state[s + at.shots + last] |= 1 << state[s + at.x]
    state[s + at.shotTimer] = shotInterval
  }
}

/** Moves shots up and bombs down. Returns whether a bomb hits the cannon. */
function moveShots(state: Float64Array, s: number): boolean {
  const [shots, bombs] = [s + at.shots, s + at.bombs]
  state.copyWithin(shots, shots + 1, shots + side)
  state[shots + last] = 0
  state.copyWithin(bombs + 1, bombs, bombs + last)
  state[bombs] = 0
  return ((state[bombs + last] >> state[s + at.x]) & 1) === 1
}

function observe(envs: EnvArrays, i: number): void {
  const { state, observations } = envs
  const s = i * stateSize
  const row = clearPlanes(envs, i)
  const heading = state[s + at.direction] < 0 ? 2 : 3
  setCell(observations, row, 0, state[s + at.x], last)
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      if ((state[s + at.aliens + y] >> x) & 1) {
        setCell(observations, row, 1, x, y)
        setCell(observations, row, heading, x, y)
      }
      if ((state[s + at.shots + y] >> x) & 1) setCell(observations, row, 4, x, y)
      if ((state[s + at.bombs + y] >> x) & 1) setCell(observations, row, 5, x, y)
    }
  }
}

/**
 * MinAtar's Space Invaders (Young and Tian 2019). A cannon in the lowest row shoots at aliens that go from side to side, one row down at each
 * edge, and drop bombs. Reward: 1 for each alien. Fewer aliens move faster, and each new wave is faster than the
 * last, as with the reference's `difficulty_ramping`. The episode ends when a bomb or an alien reaches the cannon or the aliens pass the lowest row, or is truncated after
 * 5000 steps. Actions: none, left, up, right, down, fire; up and down have no effect. Observation: [6, 10, 10]: cannon, aliens, aliens
 * that move left, aliens that move right, shots, bombs.
 */
export const spaceInvaders = defineEnvironment({
  name: 'minatar-space-invaders',
  observation: planeSpace(planes),
  action: moveSpace,
  context: {
    stickiness,
    moveInterval: {
      default: 12,
      low: 8,
      high: 12,
      extrapolate: [6, 16],
      integer: true,
      about: 'steps between two moves of many aliens, in the first wave',
    },
  },
  stateSize,
  maxSteps,
  reset({ state, context }, i) {
    const s = i * stateSize
    state.fill(0, s, s + stateSize)
    state[s + at.x] = 5
    state[s + at.direction] = -1
    state[s + at.interval] = state[s + at.moveTimer] = context.moveInterval[i]
    state[s + at.bombTimer] = bombInterval
    newWave(state, s)
  },
  step(envs, i, random) {
    const { state, context, rewards, terminated } = envs
    const s = i * stateSize
    moveCannon(state, s, executedAction(envs, i, s + at.action, context.stickiness[i], random))
    let over = moveShots(state, s) || isReached(state, s)
    if (state[s + at.moveTimer] === 0) {
      state[s + at.moveTimer] = Math.min(alienCount(state, s), state[s + at.interval])
      if (moveAliens(state, s) || isReached(state, s)) over = true
    }
    if (state[s + at.bombTimer] === 0) {
      state[s + at.bombTimer] = bombInterval
      dropBomb(state, s)
    }
    rewards[i] = hitAliens(state, s)
    terminated[i] = over ? 1 : 0
    if (state[s + at.shotTimer] > 0) state[s + at.shotTimer]--
    state[s + at.moveTimer]--
    state[s + at.bombTimer]--
    if (alienCount(state, s) > 0) return
    if (state[s + at.interval] > fastest) state[s + at.interval]--
    newWave(state, s)
  },
  observe,
  ...framesOf(planes, observe),
})
