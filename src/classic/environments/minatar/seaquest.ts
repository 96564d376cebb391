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
  side,
  stickiness,
} from './shared.ts'
import { addTo, clash, emptyList, listOf, listSize, removeAt } from './swimmers.ts'

const planes: Planes = {
  front: ['@', '#e8e4da'],
  back: ['=', '#a8a49a'],
  shot: ['|', '#e0b030'],
  trail: ['-', '#26405c'],
  torpedo: ['*', '#f07050'],
  fish: ['F', '#c8452d'],
  submarine: ['S', '#8a2f6d'],
  oxygen: ['o', '#3f7fbf'],
  divers: ['d', '#3a9d5d'],
  diver: ['D', '#3a9d5d'],
}
const shown = {
  front: 0,
  back: 1,
  shot: 2,
  trail: 3,
  torpedo: 4,
  fish: 5,
  submarine: 6,
  oxygen: 7,
  divers: 8,
  diver: 9,
}

const fullOxygen = 200
const fullBoat = 6
const shotInterval = 5
const torpedoInterval = 10
const diverInterval = 30
const diverPeriod = 5
const first = { spawn: 20, period: 5 }
/** Enemies never move faster than this. */
const fastestPeriod = 2

/** Where the state has what. `facing`: -1 or 1. `surfaced`: the boat has not dived since it surfaced. */
const at = {
  action: 0,
  x: 1,
  y: 2,
  facing: 3,
  oxygen: 4,
  divers: 5,
  shotTimer: 6,
  surfaced: 7,
  spawnInterval: 8,
  spawnTimer: 9,
  diverTimer: 10,
  period: 11,
  level: 12,
} as const

// At the highest level one enemy comes in each step and crosses the board in 33 steps.
const shots = listOf(13, 4)
const torpedoes = listOf(shots.end, 40)
const fish = listOf(torpedoes.end, 40)
const submarines = listOf(fish.end, 40)
const divers = listOf(submarines.end, 8)
const lists = [shots, torpedoes, fish, submarines, divers]
const stateSize = divers.end

/** A fish or a submarine at an edge. None where one of the same row comes towards it. */
function spawnEnemy(state: Float64Array, s: number, random: EnvironmentRandom): void {
  const direction = random.random() < 1 / 2 ? 1 : -1
  const list = random.random() < 1 / 3 ? submarines : fish
  const y = 1 + random.integers(8)
  if (clash(state, s, fish, y, direction) || clash(state, s, submarines, y, direction)) return
  addTo(state, s, list, [direction === 1 ? 0 : last, y, direction, state[s + at.period], torpedoInterval])
}

function spawnDiver(state: Float64Array, s: number, random: EnvironmentRandom): void {
  const direction = random.random() < 1 / 2 ? 1 : -1
  const y = 1 + random.integers(8)
  addTo(state, s, divers, [direction === 1 ? 0 : last, y, direction, diverPeriod, 0])
}

function steer(state: Float64Array, s: number, action: number): void {
  if (action === moves.fire && state[s + at.shotTimer] === 0) {
    addTo(state, s, shots, [state[s + at.x], state[s + at.y], state[s + at.facing], 0, 0])
    state[s + at.shotTimer] = shotInterval
  } else if (action === moves.left || action === moves.right) {
    state[s + at.facing] = action === moves.left ? -1 : 1
    state[s + at.x] = onBoard(state[s + at.x] + state[s + at.facing])
  } else if (action === moves.up) state[s + at.y] = Math.max(0, state[s + at.y] - 1)
  else if (action === moves.down) state[s + at.y] = Math.min(8, state[s + at.y] + 1)
}

/** The first of a list in a cell, or -1. */
function findAt(state: Float64Array, s: number, list: typeof shots, x: number, y: number): number {
  const count = state[s + list.count]
  for (let k = 0; k < count; k++) {
    const p = s + list.start + k * listSize
    if (state[p] === x && state[p + 1] === y) return k
  }
  return -1
}

/** Whether what begins at index `p` of the state is where the boat is. */
const isAtBoat = (state: Float64Array, s: number, p: number): boolean =>
  state[p] === state[s + at.x] && state[p + 1] === state[s + at.y]

/** Moves the shots of the boat. Returns how many enemies they hit. */
function moveShots(state: Float64Array, s: number): number {
  let hits = 0
  for (let k = state[s + shots.count] - 1; k >= 0; k--) {
    const p = s + shots.start + k * listSize
    state[p] += state[p + 2]
    if (isOutside(state[p])) {
      removeAt(state, s, shots, k)
      continue
    }
    for (const list of [fish, submarines]) {
      const hit = findAt(state, s, list, state[p], state[p + 1])
      if (hit < 0) continue
      removeAt(state, s, list, hit)
      removeAt(state, s, shots, k)
      hits++
      break
    }
  }
  return hits
}

/** Moves divers. The boat takes those that it meets while it has room. */
function moveDivers(state: Float64Array, s: number): void {
  for (let k = state[s + divers.count] - 1; k >= 0; k--) {
    const p = s + divers.start + k * listSize
    const isTaken = (): boolean => state[s + at.divers] < fullBoat && isAtBoat(state, s, p)
    let taken = isTaken()
    if (!taken && state[p + 3] > 0) state[p + 3]--
    else if (!taken) {
      state[p + 3] = diverPeriod
      state[p] += state[p + 2]
      taken = isTaken()
    }
    if (taken) state[s + at.divers]++
    if (taken || isOutside(state[p])) removeAt(state, s, divers, k)
  }
}

interface Met {
  hits: number
  over: boolean
}

/** Moves fish or submarines, which may run into the boat or into its shots. Submarines fire torpedoes. */
function moveEnemies(state: Float64Array, s: number, list: typeof fish, met: Met): void {
  for (let k = state[s + list.count] - 1; k >= 0; k--) {
    const p = s + list.start + k * listSize
    if (isAtBoat(state, s, p)) met.over = true
    let gone = false
    if (state[p + 3] > 0) state[p + 3]--
    else {
      state[p + 3] = state[s + at.period]
      state[p] += state[p + 2]
      gone = isOutside(state[p])
      if (isAtBoat(state, s, p)) met.over = true
      else if (!gone) {
        const shot = findAt(state, s, shots, state[p], state[p + 1])
        gone = shot >= 0
        if (gone) removeAt(state, s, shots, shot)
        if (gone) met.hits++
      }
    }
    // One that has just been hit still fires.
    if (list === submarines && --state[p + 4] < 0) {
      state[p + 4] = torpedoInterval
      addTo(state, s, torpedoes, [state[p], state[p + 1], state[p + 2], 0, 0])
    }
    if (gone) removeAt(state, s, list, k)
  }
}

/** Moves torpedoes. Returns whether one hits the boat. */
function moveTorpedoes(state: Float64Array, s: number): boolean {
  let hit = false
  for (let k = state[s + torpedoes.count] - 1; k >= 0; k--) {
    const p = s + torpedoes.start + k * listSize
    if (isAtBoat(state, s, p)) hit = true
    state[p] += state[p + 2]
    if (isAtBoat(state, s, p)) hit = true
    if (isOutside(state[p])) removeAt(state, s, torpedoes, k)
  }
  return hit
}

/** The boat comes up with divers: new oxygen, one diver less. A full boat is emptied and rewarded by what oxygen it had left. */
function surface(state: Float64Array, s: number, ramps: boolean): number {
  state[s + at.surfaced] = 1
  const full = state[s + at.divers] === fullBoat
  const reward = full ? Math.floor((state[s + at.oxygen] * 10) / fullOxygen) : 0
  state[s + at.oxygen] = fullOxygen
  // As in the reference, a full boat has -1 divers afterwards: the next diver fills no place.
  state[s + at.divers] = (full ? 0 : state[s + at.divers]) - 1
  const mayMove = state[s + at.period] > fastestPeriod
  const maySpawn = state[s + at.spawnInterval] > 1
  if (ramps && (mayMove || maySpawn)) {
    if (mayMove && state[s + at.level] % 2 === 1) state[s + at.period]--
    if (maySpawn) state[s + at.spawnInterval]--
    state[s + at.level]++
  }
  return reward
}

function countDown(state: Float64Array, index: number): void {
  if (state[index] > 0) state[index]--
}

function observe(envs: EnvArrays, i: number): void {
  const { state, observations } = envs
  const s = i * stateSize
  const row = clearPlanes(envs, i)
  const [x, y] = [state[s + at.x], state[s + at.y]]
  setCell(observations, row, shown.front, x, y)
  setCell(observations, row, shown.back, x - state[s + at.facing], y)
  const oxygen = Math.floor((Math.max(0, state[s + at.oxygen]) * side) / fullOxygen)
  for (let k = 0; k < oxygen; k++) setCell(observations, row, shown.oxygen, k, last)
  for (let k = 0; k < state[s + at.divers]; k++) setCell(observations, row, shown.divers, last - 1 - k, last)
  const showList = (list: typeof fish, plane: number, trail: boolean): void => {
    for (let k = 0; k < state[s + list.count]; k++) {
      const p = s + list.start + k * listSize
      setCell(observations, row, plane, state[p], state[p + 1])
      const behind = state[p] - state[p + 2]
      if (trail && !isOutside(behind)) setCell(observations, row, shown.trail, behind, state[p + 1])
    }
  }
  showList(shots, shown.shot, false)
  showList(torpedoes, shown.torpedo, false)
  showList(fish, shown.fish, true)
  showList(submarines, shown.submarine, true)
  showList(divers, shown.diver, true)
}

/**
 * MinAtar's Seaquest (Young and Tian 2019). A boat dives in rows 1 to 8, takes up to six divers and shoots at fish and submarines. Reward: 1 for
 * each enemy that is hit; surfacing with six divers gives up to 10, by the oxygen left. Surfacing needs a diver, renews the oxygen
 * and takes one diver off. The episode ends at an enemy, at a torpedo, without oxygen or when surfacing without a diver, or is truncated
 * after 5000 steps. With `ramping`, each surfacing makes enemies come or move faster. Actions: none, left, up, right, down,
 * fire. Observation: [10, 10, 10]: front and back of the boat, its shots, the cells behind enemies and divers, torpedoes,
 * fish, submarines, the oxygen left and the divers on board (both in the lowest row), divers.
 */
export const seaquest = defineEnvironment({
  name: 'minatar-seaquest',
  observation: planeSpace(planes),
  action: moveSpace,
  context: { stickiness, ramping },
  stateSize,
  maxSteps,
  reset({ state }, i) {
    const s = i * stateSize
    state.fill(0, s, s + stateSize)
    for (const list of lists) emptyList(state, s, list)
    state[s + at.x] = 5
    state[s + at.facing] = -1
    state[s + at.oxygen] = fullOxygen
    state[s + at.surfaced] = 1
    state[s + at.spawnInterval] = state[s + at.spawnTimer] = first.spawn
    state[s + at.diverTimer] = diverInterval
    state[s + at.period] = first.period
  },
  step(envs, i, random) {
    const { state, context, rewards, terminated } = envs
    const s = i * stateSize
    const action = executedAction(envs, i, s + at.action, context.stickiness[i], random)
    if (state[s + at.spawnTimer] === 0) {
      spawnEnemy(state, s, random)
      state[s + at.spawnTimer] = state[s + at.spawnInterval]
    }
    if (state[s + at.diverTimer] === 0) {
      spawnDiver(state, s, random)
      state[s + at.diverTimer] = diverInterval
    }
    steer(state, s, action)
    const met: Met = { hits: moveShots(state, s), over: false }
    moveDivers(state, s)
    moveEnemies(state, s, submarines, met)
    if (moveTorpedoes(state, s)) met.over = true
    moveEnemies(state, s, fish, met)
    for (const timer of [at.spawnTimer, at.diverTimer, at.shotTimer]) countDown(state, s + timer)
    let reward = met.hits
    if (state[s + at.oxygen] <= 0) met.over = true
    if (state[s + at.y] > 0) {
      state[s + at.oxygen]--
      state[s + at.surfaced] = 0
    } else if (state[s + at.surfaced] === 0) {
      if (state[s + at.divers] === 0) met.over = true
      else reward += surface(state, s, context.ramping[i] === 1)
    }
    rewards[i] = reward
    terminated[i] = met.over ? 1 : 0
  },
  observe,
  ...framesOf(planes, observe),
})
