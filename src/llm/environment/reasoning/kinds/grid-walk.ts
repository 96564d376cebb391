import { defineKind } from '../kind.ts'
import { between } from '../shared/draws.ts'
import { partly } from '../shared/scores.ts'
import { please } from '../shared/words.ts'

const directions = ['north', 'east', 'south', 'west'] as const
const steps = [
  [0, 1],
  [1, 0],
  [0, -1],
  [-1, 0],
] as const

/** Where a walker ends who turns and goes straight on. */
export const gridWalk = defineKind({
  name: 'grid-walk',
  about: 'where a robot stands after turns and steps',
  knobs: {
    moves: { least: 1, most: 10, about: 'straight on, with turns between' },
    largest: { least: 5, most: 20, about: 'number of steps of a move' },
  },
  levels: [
    { moves: 2, largest: 9 },
    { moves: 3, largest: 9 },
    { moves: 6, largest: 12 },
  ],
  templates: [
    'A robot [stands|starts] at (0, 0) and [faces|looks] <direction>. It <walk>. [Where is it|At which (x, y) is it|Where does it end]? North is +y, east is +x',
    `${please}[follow|track] a robot from (0, 0), facing <direction>, that <walk>, and [give|tell me] its last (x, y). North is +y, east is +x`,
  ],
  unseen: [
    'From the origin, with its front to the <direction>, a machine <walk>. Write its coordinates; y grows to the north, x to the east',
  ],
  draw: (random, { moves, largest }) => ({
    facing: random.int(4),
    walk: Array.from({ length: moves }, () => ({
      turn: random.pick([1, 3]),
      by: between(random, 1, largest),
    })),
  }),
  pose({ facing, walk }) {
    let [direction, x, y] = [facing, 0, 0]
    const lines: string[] = []
    const told: string[] = []
    walk.forEach(({ turn, by }, i) => {
      // The first move goes where the robot faces already.
      if (i > 0) {
        direction = (direction + turn) % 4
        told.push(turn === 1 ? 'turns right' : 'turns left')
      }
      told.push(`goes ${by}`)
      x += by * steps[direction][0]
      y += by * steps[direction][1]
      lines.push(`${directions[direction]} ${by}: ${x}, ${y}`)
    })
    return {
      key: `${directions[facing]}: ${told.join(', ')}`,
      holes: { direction: directions[facing], walk: told.join(', ') },
      thought: lines,
      answer: `(${x}, ${y})`,
      score(given) {
        const said = /^\(?(?:x = )?([+-]?\d{1,6})\s*[, ]\s*(?:y = )?([+-]?\d{1,6})\)?$/.exec(
          given.replaceAll('−', '-'),
        )
        if (said === null) return 0
        const right = Number(Number(said[1]) === x) + Number(Number(said[2]) === y)
        return right === 2 ? 1 : partly(right / 2)
      },
    }
  },
})
