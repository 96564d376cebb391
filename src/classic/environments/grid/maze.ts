import { defineEnvironment, discrete } from '../../environment/index.ts'
import {
  boardDrawing,
  boardStateSize,
  boardText,
  cellIndex,
  cells,
  drawAt,
  fillBoard,
  fullView,
  layoutFeature,
  moveAgent,
  slipFeature,
  wholeFeature,
  windowView,
  withSlip,
} from './shared/index.ts'
import type { View } from './shared/index.ts'
import { braidMaze, carveMaze } from './maze-layout.ts'

const largest = 7
const board = { head: 2, side: 2 * largest + 1 }
const stateSize = boardStateSize(board)

/**
 * A generated maze that can always be solved: from the upper left place to the goal, which pays 1 and ends the episode.
 * Actions: up, right, down, left.
 */
const createMaze = (name: string, view: View) =>
  defineEnvironment({
    name,
    observation: view.observation,
    action: discrete(4),
    context: {
      layout: { ...layoutFeature, about: 'number from which the ways are generated' },
      size: {
        default: 4,
        low: 3,
        high: 5,
        extrapolate: [2, largest],
        integer: true,
        about: 'places in a row; the board has 2 size + 1 cells in a row',
      },
      braid: {
        default: 0,
        low: 0,
        high: 0.5,
        extrapolate: [0, 1],
        about: 'share of dead ends that are opened',
      },
      goal: {
        ...layoutFeature,
        about: 'number from which the place of the goal is drawn; 0 is the far corner',
      },
      slip: slipFeature,
    },
    stateSize,
    maxSteps: 200,
    reset({ state, context }, i) {
      const base = i * stateSize
      const layout = context.layout[i]
      const size = wholeFeature(context.size[i], 2, largest, 'size')
      const goal = context.goal[i]
      fillBoard(state, base, board, cells.wall)
      carveMaze(state, base, board, layout, size)
      if (context.braid[i] > 0) braidMaze(state, base, board, layout, size, context.braid[i])
      const places = size * size
      const place = goal === 0 ? places - 1 : 1 + drawAt(goal, 0, 0, places - 1)
      const goalY = 1 + 2 * Math.floor(place / size)
      state[cellIndex(board, base, 1 + 2 * (place % size), goalY)] = cells.goal
      state[base] = 1
      state[base + 1] = 1
    },
    step({ state, context, actions, rewards, terminated }, i, random) {
      const action = withSlip(actions[i], context.slip[i], random)
      const arrived = moveAgent(state, i * stateSize, board, action) === cells.goal
      rewards[i] = arrived ? 1 : 0
      terminated[i] = arrived ? 1 : 0
    },
    observe: view.observe,
    text: boardText(board),
    draw: boardDrawing(board),
  })

/** The whole maze is seen, [3, 15, 15]: wall, goal, agent. */
export const maze = createMaze('maze', fullView(board, [cells.wall, cells.goal]))
/** Only the 5x5 cells around the agent are seen, [2, 5, 5]: wall, goal. */
export const mazeWindow = createMaze('maze-window', windowView(board, [cells.wall, cells.goal], 5))
