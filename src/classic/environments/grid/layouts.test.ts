import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type Context,
  createVectorEnvironment,
  type EnvArrays,
  type EnvironmentDefinition,
} from '../../environment/index.ts'
import { fourRooms } from './four-rooms.ts'
import { keyDoor } from './key-door.ts'
import { maze, mazeWindow } from './maze.ts'
import { multiRoom } from './multi-room.ts'
import { boardStateSize, cells } from './shared/board.ts'
import { shortestPlan } from './shared/exact.ts'
import { facingView, fullView } from './shared/views.ts'

/** The first frame of an episode in a context, with its environments. */
function begin(
  definition: EnvironmentDefinition,
  context: Context,
  seed = 0,
): { envs: EnvArrays; rows: string[] } {
  const vector = createVectorEnvironment(definition, { numEnvs: 1, seed, contextFor: () => context })
  vector.reset()
  return { envs: vector.envs, rows: (definition.text?.(vector.envs, 0) ?? '').split('\n') }
}

type Place = readonly [number, number]

function find(rows: string[], character: string): Place {
  const y = rows.findIndex((row) => row.includes(character))
  return [rows[y].indexOf(character), y]
}

/** Distances in steps from a cell of a text frame. Characters of `walls` block the way. */
function distances(rows: string[], [x, y]: Place, walls: string): Map<string, number> {
  const found = new Map([[`${x},${y}`, 0]])
  const queue: Place[] = [[x, y]]
  for (const [px, py] of queue) {
    for (const [nx, ny] of [
      [px, py - 1],
      [px + 1, py],
      [px, py + 1],
      [px - 1, py],
    ]) {
      const key = `${nx},${ny}`
      if (rows[ny]?.[nx] === undefined || walls.includes(rows[ny][nx]) || found.has(key)) continue
      found.set(key, (found.get(`${px},${py}`) ?? 0) + 1)
      queue.push([nx, ny])
    }
  }
  return found
}

const layout = fc.integer({ min: 0, max: 19_999 })

/** Plays a plan and returns the return of the episode. */
function play(
  definition: EnvironmentDefinition,
  context: Context,
  plan: readonly number[],
  seed = 0,
): number {
  const vector = createVectorEnvironment(definition, {
    numEnvs: 1,
    seed,
    contextFor: () => context,
    autoreset: 'disabled',
  })
  vector.reset()
  for (const action of plan) {
    vector.actions[0] = action
    vector.step()
  }
  expect(vector.terminated[0]).toBe(1)
  return vector.returns[0]
}

test('layout 0 of four rooms is the original, with the east doorway as default goal', () => {
  const { rows } = begin(fourRooms, {})
  expect(rows.map((row) => row.replace('@', '.'))).toEqual([
    '#############',
    '#.....#.....#',
    '#.....#.....#',
    '#...........#',
    '#.....#.....#',
    '#.....#.....#',
    '##.####.....#',
    '#.....###G###',
    '#.....#.....#',
    '#.....#.....#',
    '#...........#',
    '#.....#.....#',
    '#############',
  ])
})

test('every layout of four rooms has 104 connected floor cells, and the oracle finds the shortest path', () => {
  fc.assert(
    fc.property(layout, fc.integer({ min: 0, max: 103 }), fc.nat(1000), (layout, goal, seed) => {
      const context = { layout, goal }
      const { envs, rows } = begin(fourRooms, context, seed)
      const all = distances(rows, find(rows, '@'), '#')
      expect(all.size).toBe(104)
      const plan = shortestPlan(fourRooms, envs, 0) ?? []
      expect(plan.length).toBe(all.get(find(rows, 'G').join()))
      expect(play(fourRooms, context, plan, seed)).toBe(1)
    }),
    { numRuns: 60, seed: 1 },
  )
})

test('every maze is solvable; it is a tree without braiding and has no dead end with full braiding', () => {
  const size = fc.integer({ min: 2, max: 7 })
  fc.assert(
    fc.property(layout, size, layout, fc.constantFrom(0, 0.5, 1), (layout, size, goal, braid) => {
      const context = { layout, size, goal, braid }
      const { envs, rows } = begin(maze, context)
      expect(rows.length).toBe(2 * size + 1)
      const all = distances(rows, [1, 1], '#')
      expect(all.size).toBe(rows.join('').replaceAll('#', '').length)
      const plan = shortestPlan(maze, envs, 0) ?? []
      expect(plan.length).toBe(all.get(find(rows, 'G').join()))
      expect(play(maze, context, plan)).toBe(1)
      // size^2 places and the openings between them; a tree has one opening less than places.
      if (braid === 0) expect(all.size).toBe(2 * size * size - 1)
      if (braid === 1) {
        for (const place of all.keys()) {
          const [x, y] = place.split(',').map(Number)
          const ways = [rows[y - 1][x], rows[y + 1][x], rows[y][x - 1], rows[y][x + 1]]
          expect(ways.filter((cell) => cell !== '#').length).toBeGreaterThan(1)
        }
      }
    }),
    { numRuns: 60, seed: 1 },
  )
})

test('different layout numbers give different mazes, and the same number the same maze', () => {
  const frames = Array.from({ length: 200 }, (_, k) => begin(maze, { layout: k, size: 7 }).rows.join('\n'))
  expect(new Set(frames).size).toBe(200)
  expect(begin(maze, { layout: 7, size: 7 }, 99).rows.join('\n')).toBe(frames[7])
})

test('the oracle of key-door visits key and door in the number of steps counted on the frame', () => {
  const size = fc.integer({ min: 5, max: 9 })
  fc.assert(
    fc.property(layout, size, fc.nat(1000), (layout, size, seed) => {
      const context = { layout, size }
      const { envs, rows } = begin(keyDoor, context, seed)
      // The agent may stand on the key at first.
      const agent = find(rows, '@')
      const key = rows.join('').includes('k') ? find(rows, 'k') : agent
      const [doorX, doorY] = find(rows, '+')
      const toKey = distances(rows, agent, '#+')
      expect(toKey.has(find(rows, 'G').join())).toBe(false)
      const toDoor = distances(rows, key, '#+').get(`${doorX - 1},${doorY}`) ?? NaN
      const toGoal = distances(rows, [doorX, doorY], '#').get(find(rows, 'G').join()) ?? NaN
      const plan = shortestPlan(keyDoor, envs, 0) ?? []
      expect(plan.length).toBe((toKey.get(key.join()) ?? NaN) + 1 + toDoor + 1 + 1 + toGoal)
      expect(play(keyDoor, context, plan, seed)).toBe(1)
    }),
    { numRuns: 60, seed: 1 },
  )
})

test('multi-room has the requested number of doors before the goal, and the oracle opens each', () => {
  const rooms = fc.integer({ min: 2, max: 6 })
  const roomSize = fc.integer({ min: 2, max: 5 })
  fc.assert(
    fc.property(layout, rooms, roomSize, fc.nat(1000), (layout, rooms, roomSize, seed) => {
      const context = { layout, rooms, roomSize }
      const { envs, rows } = begin(multiRoom, context, seed)
      const frame = rows.join('')
      expect(frame.split('+').length - 1).toBe(rooms - 1)
      const agent = find(rows, '<>^v'.split('').find((c) => frame.includes(c)) ?? '')
      expect(distances(rows, agent, '#+').size).toBe(roomSize ** 2)
      const way = distances(rows, agent, '#').get(find(rows, 'G').join()) ?? Infinity
      const plan = shortestPlan(multiRoom, envs, 0) ?? []
      expect(plan.filter((action) => action === 2).length).toBeGreaterThanOrEqual(way)
      expect(plan.filter((action) => action === 3).length).toBe(rooms - 1)
      expect(play(multiRoom, context, plan, seed)).toBe(1)
    }),
    { numRuns: 20, seed: 1 },
  )
})

test('a slipping move may go in any direction', () => {
  const vector = createVectorEnvironment(fourRooms, { numEnvs: 2000, contextFor: () => ({ slip: 4 / 9 }) })
  vector.reset()
  const { state } = vector.envs
  const size = fourRooms.stateSize
  const placed = Array.from({ length: 2000 }, (_, i) => {
    state[i * size] = 9
    state[i * size + 1] = 3
    vector.actions[i] = 0
    return i
  })
  vector.step()
  const up = placed.filter((i) => state[i * size + 1] === 2).length / 2000
  const down = placed.filter((i) => state[i * size + 1] === 4).length / 2000
  expect(Math.abs(up - 2 / 3)).toBeLessThan(0.04)
  expect(Math.abs(down - 1 / 9)).toBeLessThan(0.03)
})

test('sizes that do not fit are refused', () => {
  expect(() => begin(maze, { size: 8 })).toThrow(/size is out of range/)
  expect(() => begin(maze, { size: 3.5 })).toThrow(expect.objectContaining({ code: 'bad-context' }))
  expect(() => begin(multiRoom, { rooms: 1 })).toThrow(expect.objectContaining({ code: 'bad-context' }))
  expect(() => begin(fourRooms, { goal: 104 })).toThrow(expect.objectContaining({ code: 'bad-context' }))
})

test('the window shows the cells around the agent', () => {
  const { envs, rows } = begin(mazeWindow, { layout: 5, goal: 3 })
  mazeWindow.observe(envs, 0)
  const [x, y] = find(rows, '@')
  for (let r = 0; r < 5; r++) {
    for (let c = 0; c < 5; c++) {
      const cell = rows[y + r - 2]?.[x + c - 2] ?? '#'
      expect(envs.observations[r * 5 + c]).toBe(cell === '#' ? 1 : 0)
      expect(envs.observations[25 + r * 5 + c]).toBe(cell === 'G' ? 1 : 0)
    }
  }
})

const board = { head: 3, side: 9 }
const kinds = [cells.wall, cells.goal, cells.closedDoor, cells.openDoor]
const view = facingView(board, kinds, 5)

/** What the agent sees of a picture of 9x9 characters, as rows: `?` is hidden. */
function look(picture: string, heading: number): string[] {
  const rows = picture.trim().split(/\s+/)
  const state = new Float64Array(boardStateSize(board))
  rows.forEach((row, y) =>
    row.split('').forEach((character, x) => {
      if (character === '@') state.set([x, y, heading])
      else state[board.head + y * 9 + x] = '.#G.+/'.indexOf(character)
    }),
  )
  const observations = new Float32Array(5 * 25)
  view.observe({ state, observations } as unknown as EnvArrays, 0)
  return Array.from({ length: 5 }, (_, r) =>
    Array.from({ length: 5 }, (_, c) => {
      const plane = Array.from({ length: 5 }, (_, p) => observations[p * 25 + r * 5 + c]).indexOf(1)
      return plane < 0 ? '.' : '#G+/?'[plane]
    }).join(''),
  )
}

const picture = `
#########
#.......#
#.......#
###+#####
#...@..G#
#.......#
####/####
#.......#
#########`

test('the view ahead is rotated with the agent and hides cells behind walls and closed doors', () => {
  expect(look(picture, 0)).toEqual(['?????', '?????', '?????', '#+###', '.....'])
})

test('an agent facing right sees the goal ahead', () => {
  const seen = look(picture, 1)
  expect(seen[1][2]).toBe('G')
  expect(seen[4]).toBe('?#../')
  expect(seen[0].slice(1, 4)).toBe('###')
})

test('an agent facing down sees through the open door', () => {
  const seen = look(picture, 2)
  expect(seen[2]).toBe('##/##')
  expect(seen[1]).toBe('.....')
  expect(seen[0]).toBe('#####')
})

test('the whole board has one plane for each kind and one for the agent', () => {
  const full = fullView(board, kinds)
  const state = new Float64Array(boardStateSize(board))
  state.set([2, 1, 0, cells.wall, cells.goal])
  const observations = new Float32Array(5 * 81)
  full.observe({ state, observations } as unknown as EnvArrays, 0)
  expect(observations.reduce((sum, value) => sum + value, 0)).toBe(3)
  expect([observations[0], observations[81 + 1], observations[4 * 81 + 11]]).toEqual([1, 1, 1])
})
