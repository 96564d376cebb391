import { expect, test } from 'vitest'
import type { EnvArrays } from '../../environment/index.ts'
import { boardStateSize, cells, facingView, fullView } from './shared/index.ts'

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

test('the agent sees ahead of it, turned, and nothing behind walls and closed doors', () => {
  expect(look(picture, 0)).toEqual(['?????', '?????', '?????', '#+###', '.....'])
})

test('to the right, the goal lies ahead', () => {
  const seen = look(picture, 1)
  expect(seen[1][2]).toBe('G')
  expect(seen[4]).toBe('?#../')
  expect(seen[0].slice(1, 4)).toBe('###')
})

test('downwards, the open door lets sight through', () => {
  const seen = look(picture, 2)
  expect(seen[2]).toBe('##/##')
  expect(seen[1]).toBe('.....')
  expect(seen[0]).toBe('#####')
})

test('the whole board has one plane a kind, and one for the agent', () => {
  const full = fullView(board, kinds)
  const state = new Float64Array(boardStateSize(board))
  state.set([2, 1, 0, cells.wall, cells.goal])
  const observations = new Float32Array(5 * 81)
  full.observe({ state, observations } as unknown as EnvArrays, 0)
  expect(observations.reduce((sum, value) => sum + value, 0)).toBe(3)
  expect([observations[0], observations[81 + 1], observations[4 * 81 + 11]]).toEqual([1, 1, 1])
})
