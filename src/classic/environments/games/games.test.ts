import { expect, test } from 'vitest'
import { createMultiAgentVector, createParallelEnvironment, fastStream } from '../../environment/index.ts'
import type { AgentArrays, MultiAgentDefinition } from '../../environment/index.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { climbing, penaltyGame, prisonersDilemma, ticTacToe, twoStepGame } from './index.ts'

const definitions: readonly MultiAgentDefinition[] = [
  climbing,
  penaltyGame,
  prisonersDilemma,
  ticTacToe,
  twoStepGame,
]

/** The rewards of both for each pair of actions in the first step. */
function table(definition: MultiAgentDefinition, choices: number): number[][][] {
  return Array.from({ length: choices }, (_, first) =>
    Array.from({ length: choices }, (_, second) => {
      const game = createParallelEnvironment(definition)
      game.reset()
      return Object.values(game.step({ first, second }).rewards)
    }),
  )
}

test('the tables of the matrix games', () => {
  const shared = (rows: number[][]): number[][][] => rows.map((row) => row.map((value) => [value, value]))
  expect(table(climbing, 3)).toEqual(
    shared([
      [11, -30, 0],
      [-30, 7, 6],
      [0, 0, 5],
    ]),
  )
  expect(table(penaltyGame, 3)).toEqual(
    shared([
      [10, 0, -25],
      [0, 2, 0],
      [-25, 0, 10],
    ]),
  )
  expect(table(prisonersDilemma, 2)).toEqual([
    [
      [3, 3],
      [0, 5],
    ],
    [
      [5, 0],
      [1, 1],
    ],
  ])
})

test('the climbing game over 25 steps: best 275, the plateau 175', () => {
  const vector = createMultiAgentVector(climbing, { numEnvs: 2, autoreset: 'disabled' })
  vector.reset()
  vector.actions.set([0, 0, 1, 1])
  while (vector.truncated[0] === 0) vector.step()
  expect([...vector.returns]).toEqual([275, 275, 175, 175])
})

test("the prisoner's dilemma shows what both did, each its own first", () => {
  const game = createParallelEnvironment(prisonersDilemma)
  expect(game.reset().observations).toEqual({ first: 0, second: 0 })
  expect(game.step({ first: 0, second: 1 }).observations).toEqual({ first: 2, second: 3 })
  expect(game.definition.text?.(game.vector.numEnvs, 0)).toBe('first 0 (0)   second 1 (5)')
})

test('the two-step game pays 7 for A, at best 8 for B', () => {
  const best = [0, 1].map((first) => {
    const returns = [0, 1, 2, 3].map((pair) => {
      const game = createParallelEnvironment(twoStepGame)
      game.reset()
      const middle = game.step({ first, second: pair % 2 })
      expect(middle.observations).toEqual({ first: 1 + first, second: 1 + first })
      const end = game.step({ first: pair >> 1, second: pair % 2 })
      expect(end.terminated).toBe(true)
      return middle.rewards.first + end.rewards.second
    })
    return returns
  })
  expect(best).toEqual([
    [7, 7, 7, 7],
    [0, 1, 1, 8],
  ])
})

test('of all games of tic-tac-toe, cross wins 131184, nought 77904, and 46080 are drawn; perfect play draws', () => {
  const vector = createMultiAgentVector(ticTacToe, { numEnvs: 1 })
  vector.reset()
  const { numEnvs } = vector
  const chance = fastStream('unused')
  const counts = { cross: 0, nought: 0, draw: 0 }
  /** The value for cross of the state in the slot. */
  function explore(): number {
    const before = numEnvs.state.slice()
    const player = before[9]
    let best = player === 1 ? -1 : 1
    for (let square = 0; square < 9; square++) {
      if (before[square] !== 0) continue
      numEnvs.state.set(before)
      numEnvs.actions[player - 1] = square
      ticTacToe.step(numEnvs, 0, chance)
      let value = numEnvs.rewards[0]
      if (numEnvs.terminated[0] === 0) value = explore()
      else counts[value === 0 ? 'draw' : value > 0 ? 'cross' : 'nought']++
      best = player === 1 ? Math.max(best, value) : Math.min(best, value)
    }
    return best
  }
  expect(explore()).toBe(0)
  expect(counts).toEqual({ cross: 131_184, nought: 77_904, draw: 46_080 })
})

test('tic-tac-toe: masks allow the empty squares of the one to move; each sees its own marks first', () => {
  const vector = createMultiAgentVector(ticTacToe, {
    numEnvs: 5,
    contextFor: (envIndex) => ({ opening: envIndex }),
  })
  const random = createRandom('moves')
  vector.reset()
  for (let t = 0; t < 60; t++) {
    for (let i = 0; i < 5; i++) {
      const board = vector.numEnvs.state.subarray(i * 10, i * 10 + 9)
      const marks = board.filter((mark) => mark !== 0).length
      const mover = marks % 2
      expect([...vector.agentMask.subarray(i * 2, i * 2 + 2)]).toEqual([1 - mover, mover])
      const allowed = vector.actionMask.subarray((i * 2 + mover) * 9, (i * 2 + mover + 1) * 9)
      expect([...allowed]).toEqual(Array.from(board, (mark) => (mark === 0 ? 1 : 0)))
      const other = vector.actionMask.subarray((i * 2 + 1 - mover) * 9, (i * 2 + 2 - mover) * 9)
      expect(other.every((bit) => bit === 0)).toBe(true)
      const own = vector.observations.subarray((i * 2 + mover) * 18, (i * 2 + mover) * 18 + 9)
      expect([...own]).toEqual(Array.from(board, (mark) => (mark === mover + 1 ? 1 : 0)))
      vector.actions[i * 2 + mover] = random.weighted(allowed)
    }
    vector.step()
  }
})

test('an occupied square is a typed error, and nothing changes', () => {
  const vector = createMultiAgentVector(ticTacToe, { numEnvs: 1 })
  vector.reset()
  vector.actions[0] = 4
  vector.step()
  vector.actions[1] = 4
  const before = vector.numEnvs.state.slice()
  expect(() => vector.step()).toThrow(
    expect.objectContaining({
      code: 'invalid-action',
      expected: 'one of the actions allowed: 0, 1, 2, 3, 5, 6, 7, 8',
    }),
  )
  expect(vector.numEnvs.state).toEqual(before)
  expect(ticTacToe.text?.(vector.numEnvs, 0)).toBe('. . .\n. X .\n. . .')
  const matrix = createMultiAgentVector(climbing, { numEnvs: 1 })
  matrix.reset()
  matrix.actions.set([0, 3])
  expect(() => matrix.step()).toThrow(expect.objectContaining({ code: 'invalid-action' }))
})

/** Everything that random legal play sees. */
function trace(definition: MultiAgentDefinition, context: Record<string, number>): string {
  const vector = createMultiAgentVector(definition, { numEnvs: 8, contextFor: () => context })
  const random = createRandom('actions')
  const log: string[] = []
  vector.reset()
  for (let t = 0; t < 60; t++) {
    log.push(vector.observations.join(), vector.rewards.join(), vector.agentMask.join())
    chooseLegal(definition, vector.numEnvs, () => random.next())
    vector.step()
  }
  return log.join(';')
}

function chooseLegal(
  definition: MultiAgentDefinition,
  { actions, actionMask }: AgentArrays,
  next: () => number,
): void {
  const n = definition.action.type === 'discrete' ? definition.action.n : NaN
  for (let k = 0; k < actions.length; k++) {
    const legal = Array.from({ length: n }, (_, a) => a).filter((a) => (actionMask[k * n + a] ?? 1) === 1)
    actions[k] = legal[Math.floor(next() * legal.length)] ?? 0
  }
}

test.each(definitions.map((definition) => [definition.name, definition] as const))(
  '%s: every feature acts',
  (_, definition) => {
    const plain = trace(definition, {})
    for (const [name, feature] of Object.entries(definition.context)) {
      for (const value of [feature.low, feature.high, ...(feature.extrapolate ?? [])]) {
        if (value === feature.default) continue
        const acts = trace(definition, { [name]: value }) !== plain
        expect({ name, value, acts }).toEqual({ name, value, acts: true })
      }
    }
  },
)
