import { defineEnvironment, type EnvArrays } from '../../environment/index.ts'
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
  setCell,
  side,
  stickiness,
} from './shared.ts'

const planes: Planes = {
  paddle: ['=', '#e8e4da'],
  ball: ['o', '#e0b030'],
  trail: ['-', '#6b5a2a'],
  brick: ['#', '#c8452d'],
}

/** Where the state has what. `struck`: the last step met a brick. `bricks`: three rows from row 1 down. */
const at = {
  action: 0,
  paddle: 1,
  x: 2,
  y: 3,
  dx: 4,
  dy: 5,
  lastX: 6,
  lastY: 7,
  struck: 8,
  bricks: 9,
} as const
const bricks = 3 * side
const stateSize = at.bricks + bricks

/** The index of the brick of a cell, or -1 where there is no place for one. */
const brickOf = (x: number, y: number): number => (y >= 1 && y <= 3 ? at.bricks + (y - 1) * side + x : -1)

function observe(envs: EnvArrays, i: number): void {
  const { state, observations } = envs
  const s = i * stateSize
  const row = clearPlanes(envs, i)
  setCell(observations, row, 0, state[s + at.paddle], last)
  setCell(observations, row, 1, state[s + at.x], state[s + at.y])
  setCell(observations, row, 2, state[s + at.lastX], state[s + at.lastY])
  for (let k = 0; k < bricks; k++)
    if (state[s + at.bricks + k] === 1) setCell(observations, row, 3, k % side, 1 + Math.floor(k / side))
}

/** Moves the ball by one cell. Returns the reward, and whether the ball is lost. */
function moveBall(state: Float64Array, s: number): { reward: number; lost: boolean } {
  const [oldX, oldY] = [state[s + at.x], state[s + at.y]]
  let x = oldX + state[s + at.dx]
  let y = oldY + state[s + at.dy]
  let reward = 0
  let lost = false
  let met = 0
  if (isOutside(x)) {
    x = onBoard(x)
    state[s + at.dx] *= -1
  }
  const brick = brickOf(x, y)
  if (y < 0) {
    y = 0
    state[s + at.dy] *= -1
  } else if (brick >= 0 && state[s + brick] === 1) {
    met = 1
    // A ball that has just broken a brick passes through the next ones.
    if (state[s + at.struck] === 0) {
      reward = 1
      state[s + brick] = 0
      y = oldY
      state[s + at.dy] *= -1
    }
  } else if (y === last) {
    const wall = s + at.bricks
    if (!state.subarray(wall, wall + bricks).includes(1)) state.fill(1, wall, wall + bricks)
    const paddle = state[s + at.paddle]
    lost = paddle !== oldX && paddle !== x
    if (!lost) {
      y = oldY
      state[s + at.dy] *= -1
      // The paddle is beside the ball, not below it: the ball goes back where it came from.
      if (paddle !== oldX) state[s + at.dx] *= -1
    }
  }
  state[s + at.struck] = met
  state[s + at.lastX] = oldX
  state[s + at.lastY] = oldY
  state[s + at.x] = x
  state[s + at.y] = y
  return { reward, lost }
}

/**
 * MinAtar's Breakout (Young and Tian 2019). A paddle in the lowest row sends a ball back that breaks bricks; the ball moves
 * diagonally. Reward: 1 for each brick. Three new rows come when all are broken and the ball is down again. The episode ends when the
 * ball passes the paddle, or is truncated after 5000 steps. Actions: none, left, up, right, down, fire; only none, left and right have
 * an effect. Observation: [4, 10, 10]: paddle, ball, where the ball was, bricks.
 */
export const breakout = defineEnvironment({
  name: 'minatar-breakout',
  observation: planeSpace(planes),
  action: moveSpace,
  context: { stickiness },
  stateSize,
  maxSteps,
  reset({ state }, i, random) {
    const s = i * stateSize
    state.fill(0, s, s + stateSize)
    const right = random.integers(2) === 1
    state[s + at.paddle] = 4
    state[s + at.x] = right ? last : 0
    state[s + at.y] = 3
    state[s + at.dx] = right ? -1 : 1
    state[s + at.dy] = 1
    state[s + at.lastX] = state[s + at.x]
    state[s + at.lastY] = 3
    state.fill(1, s + at.bricks, s + at.bricks + bricks)
  },
  step(envs, i, random) {
    const { state, context, rewards, terminated } = envs
    const s = i * stateSize
    const action = executedAction(envs, i, s + at.action, context.stickiness[i], random)
    if (action === moves.left) state[s + at.paddle] = onBoard(state[s + at.paddle] - 1)
    else if (action === moves.right) state[s + at.paddle] = onBoard(state[s + at.paddle] + 1)
    const { reward, lost } = moveBall(state, s)
    rewards[i] = reward
    terminated[i] = lost ? 1 : 0
  },
  observe,
  ...framesOf(planes, observe),
})
