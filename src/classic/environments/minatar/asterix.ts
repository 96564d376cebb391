import { defineEnvironment, type EnvArrays, type EnvironmentRandom } from '../../environment/index.ts'
import {
  clearPlanes,
  executedAction,
  framesOf,
  isOutside,
  last,
  maxSteps,
  moves,
  moveSpace,
  onBoard,
  type Planes,
  planeSpace,
  ramping,
  setCell,
  stickiness,
} from './shared.ts'

const planes: Planes = {
  player: ['@', '#e8e4da'],
  enemy: ['X', '#c8452d'],
  trail: ['-', '#4a4d55'],
  gold: ['$', '#e0b030'],
}

/** Rows 1 to 8, each with room for one enemy or treasure. */
const rows = 8
const first = { spawn: 10, move: 5 }
/** Steps between two increases of difficulty. */
const rampInterval = 100
const kinds = { none: 0, enemy: 1, gold: 2 } as const

/** Where the state has what. Of each row: the kind of what is in it, its column and direction (-1 or 1). */
const at = {
  action: 0,
  x: 1,
  y: 2,
  spawnInterval: 3,
  spawnTimer: 4,
  moveInterval: 5,
  moveTimer: 6,
  rampTimer: 7,
  level: 8,
  kind: 9,
  column: 9 + rows,
  direction: 9 + 2 * rows,
} as const
const stateSize = 9 + 3 * rows

/** Something new at an edge of a free row, an enemy twice as often as a treasure. Nothing if no row is free. */
function spawn(state: Float64Array, s: number, random: EnvironmentRandom): void {
  const direction = random.random() < 1 / 2 ? 1 : -1
  const kind = random.random() < 1 / 3 ? kinds.gold : kinds.enemy
  const free = Array.from({ length: rows }, (_, k) => k).filter((k) => state[s + at.kind + k] === kinds.none)
  if (free.length === 0) return
  const k = free[random.integers(free.length)]
  state[s + at.kind + k] = kind
  state[s + at.column + k] = direction === 1 ? 0 : last
  state[s + at.direction + k] = direction
}

/** What the player touches in row k: takes a treasure and returns 1, or returns -1 for an enemy, 0 for nothing. */
function touch(state: Float64Array, s: number, k: number): number {
  if (state[s + at.y] !== k + 1 || state[s + at.x] !== state[s + at.column + k]) return 0
  const kind = state[s + at.kind + k]
  if (kind === kinds.gold) state[s + at.kind + k] = kinds.none
  return kind === kinds.gold ? 1 : kind === kinds.enemy ? -1 : 0
}

function moveRow(state: Float64Array, s: number, k: number): void {
  if (state[s + at.kind + k] === kinds.none) return
  state[s + at.column + k] += state[s + at.direction + k]
  if (isOutside(state[s + at.column + k])) state[s + at.kind + k] = kinds.none
}

/** Counts down to the next level. A level makes spawning faster, every second one movement too. */
function ramp(state: Float64Array, s: number): void {
  const mayMove = state[s + at.moveInterval] > 1
  const maySpawn = state[s + at.spawnInterval] > 1
  if (!mayMove && !maySpawn) return
  if (state[s + at.rampTimer] >= 0) {
    state[s + at.rampTimer]--
    return
  }
  if (mayMove && state[s + at.level] % 2 === 1) state[s + at.moveInterval]--
  if (maySpawn) state[s + at.spawnInterval]--
  state[s + at.level]++
  state[s + at.rampTimer] = rampInterval
}

function movePlayer(state: Float64Array, s: number, action: number): void {
  if (action === moves.left) state[s + at.x] = onBoard(state[s + at.x] - 1)
  else if (action === moves.right) state[s + at.x] = onBoard(state[s + at.x] + 1)
  else if (action === moves.up) state[s + at.y] = Math.max(1, state[s + at.y] - 1)
  else if (action === moves.down) state[s + at.y] = Math.min(rows, state[s + at.y] + 1)
}

function observe(envs: EnvArrays, i: number): void {
  const { state, observations } = envs
  const s = i * stateSize
  const row = clearPlanes(envs, i)
  setCell(observations, row, 0, state[s + at.x], state[s + at.y])
  for (let k = 0; k < rows; k++) {
    const kind = state[s + at.kind + k]
    if (kind === kinds.none) continue
    const x = state[s + at.column + k]
    setCell(observations, row, kind === kinds.gold ? 3 : 1, x, k + 1)
    const behind = x - state[s + at.direction + k]
    if (!isOutside(behind)) setCell(observations, row, 2, behind, k + 1)
  }
}

/**
 * MinAtar's Asterix (Young and Tian 2019). The player moves freely in rows 1 to 8, where enemies and treasures come from the sides. Reward:
 * 1 for each treasure. The episode ends at an enemy, or is truncated after 5000 steps. With `ramping`, enemies come and move
 * faster with time. Actions: none, left, up, right, down, fire; fire has no effect. Observation: [4, 10, 10]: player,
 * enemies, the cells behind enemies and treasures, treasures.
 */
export const asterix = defineEnvironment({
  name: 'minatar-asterix',
  observation: planeSpace(planes),
  action: moveSpace,
  context: { stickiness, ramping },
  stateSize,
  maxSteps,
  reset({ state }, i) {
    const s = i * stateSize
    state.fill(0, s, s + stateSize)
    state[s + at.x] = 5
    state[s + at.y] = 5
    state[s + at.spawnInterval] = state[s + at.spawnTimer] = first.spawn
    state[s + at.moveInterval] = state[s + at.moveTimer] = first.move
    state[s + at.rampTimer] = rampInterval
  },
  step(envs, i, random) {
    const { state, context, rewards, terminated } = envs
    const s = i * stateSize
    const action = executedAction(envs, i, s + at.action, context.stickiness[i], random)
    if (state[s + at.spawnTimer] === 0) {
      spawn(state, s, random)
      state[s + at.spawnTimer] = state[s + at.spawnInterval]
    }
    movePlayer(state, s, action)
    let reward = 0
    let over = 0
    const touchAll = (move: boolean): void => {
      for (let k = 0; k < rows; k++) {
        if (move) moveRow(state, s, k)
        const touched = touch(state, s, k)
        if (touched > 0) reward++
        else if (touched < 0) over = 1
      }
    }
    touchAll(false)
    if (state[s + at.moveTimer] === 0) {
      state[s + at.moveTimer] = state[s + at.moveInterval]
      touchAll(true)
    }
    state[s + at.spawnTimer]--
    state[s + at.moveTimer]--
    if (context.ramping[i] === 1) ramp(state, s)
    rewards[i] = reward
    terminated[i] = over
  },
  observe,
  ...framesOf(planes, observe),
})
