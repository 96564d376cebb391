import { box, defineMultiAgentEnvironment, discrete, invalidMove } from '../../environment/index.ts'
import type { AgentArrays, Drawing, DrawnShape } from '../../environment/index.ts'

const agents = ['cross', 'nought']
/** Nine squares (0 empty, 1 cross, 2 nought), then whose turn it is: 1, 2, or 0 once the game is over. */
const stateSize = 10
const lines = [0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 3, 6, 1, 4, 7, 2, 5, 8, 0, 4, 8, 2, 4, 6]

/** Whether a player has three in a line. */
function hasLine(state: Float64Array, s: number, player: number): boolean {
  for (let k = 0; k < lines.length; k += 3) {
    if (
      state[s + lines[k]] === player &&
      state[s + lines[k + 1]] === player &&
      state[s + lines[k + 2]] === player
    )
      return true
  }
  return false
}

const isFull = (state: Float64Array, s: number): boolean => {
  for (let square = 0; square < 9; square++) if (state[s + square] === 0) return false
  return true
}

/**
 * Tic-tac-toe, a game of turns: in each step the agent of `agentMask` marks one of nine squares, numbered row by row from
 * the top; three in a line win 1, the other gets -1, a draw pays nothing. Each sees [2, 3, 3]: its own marks, and the
 * other's. Marking an occupied square throws `invalid-action`.
 */
export const ticTacToe = defineMultiAgentEnvironment({
  name: 'tic-tac-toe',
  agents,
  observation: box([2, 3, 3], 0, 1),
  action: discrete(9),
  context: {
    opening: {
      default: 0,
      low: 0,
      high: 3,
      extrapolate: [0, 4],
      integer: true,
      about: 'marks that are set at random before the game',
    },
  },
  stateSize,
  reset({ state, context }, i, random) {
    const s = i * stateSize
    state.fill(0, s, s + 9)
    let player = 1
    for (let k = 0; k < context[i]; k++) {
      let left = random.integers(9 - k)
      let square = 0
      // The `left`-th empty square.
      while (state[s + square] !== 0 || left-- > 0) square++
      state[s + square] = player
      player = 3 - player
    }
    state[s + 9] = player
  },
  step({ state, actions, rewards, terminated }, i) {
    const s = i * stateSize
    const player = state[s + 9]
    const mover = player - 1
    const square = actions[i * 2 + mover]
    if (state[s + square] !== 0 || !(square >= 0 && square < 9)) {
      const free = [0, 1, 2, 3, 4, 5, 6, 7, 8].filter((k) => state[s + k] === 0)
      throw invalidMove('tic-tac-toe', agents[mover], square, free.join(', '))
    }
    state[s + square] = player
    const won = hasLine(state, s, player)
    const over = won || isFull(state, s)
    rewards[i * 2 + mover] = won ? 1 : 0
    rewards[i * 2 + 1 - mover] = won ? -1 : 0
    terminated[i] = over ? 1 : 0
    state[s + 9] = over ? 0 : 3 - player
  },
  observe({ state, observations }, i) {
    for (let agent = 0; agent < 2; agent++) {
      const row = (i * 2 + agent) * 18
      for (let square = 0; square < 9; square++) {
        const mark = state[i * stateSize + square]
        observations[row + square] = mark === agent + 1 ? 1 : 0
        observations[row + 9 + square] = mark === 2 - agent ? 1 : 0
      }
    }
  },
  acting({ state, agentMask }, i) {
    const player = state[i * stateSize + 9]
    agentMask[i * 2] = player === 1 ? 1 : 0
    agentMask[i * 2 + 1] = player === 2 ? 1 : 0
  },
  mask({ state, actionMask }, i) {
    for (let k = 0; k < 18; k++) {
      const mayMove = state[i * stateSize + 9] === (k < 9 ? 1 : 2)
      actionMask[i * 18 + k] = mayMove && state[i * stateSize + (k % 9)] === 0 ? 1 : 0
    }
  },
  text: ({ state }, i) =>
    [0, 3, 6].map((row) => [0, 1, 2].map((k) => '.XO'[state[i * stateSize + row + k]]).join(' ')).join('\n'),
  draw,
})

function draw({ state }: AgentArrays, i: number): Drawing {
  const shapes: DrawnShape[] = [1, 2].flatMap((at): DrawnShape[] => [
    {
      type: 'line',
      points: [
        [at, 0],
        [at, 3],
      ],
      stroke: '#888',
    },
    {
      type: 'line',
      points: [
        [0, at],
        [3, at],
      ],
      stroke: '#888',
    },
  ])
  for (let square = 0; square < 9; square++) {
    const mark = state[i * stateSize + square]
    const [x, y] = [(square % 3) + 0.5, 2.5 - Math.floor(square / 3)]
    if (mark === 1) {
      for (const side of [-0.3, 0.3]) {
        const points = [
          [x - 0.3, y - side],
          [x + 0.3, y + side],
        ] as const
        shapes.push({ type: 'line', points, stroke: '#07a', width: 0.1 })
      }
    } else if (mark === 2) {
      shapes.push({ type: 'circle', x, y, radius: 0.35, fill: '#c70' })
      shapes.push({ type: 'circle', x, y, radius: 0.25, fill: '#fff' })
    }
  }
  return { view: [0, 0, 3, 3], shapes }
}
