import { createRandom } from 'agoge/engine'
import { operations } from './operations.ts'

/** A request's mark and the operation that it asks for; the agent does not know which mark means what. */
type Marked = readonly (readonly [mark: string, operation: string])[]

/** Operations of ten pairs. */
export interface Chosen {
  plain: string
  brief: string
  weaker: string
  thinking: string
  rules: Marked
  /** Tools with the operation that the description of each says. */
  misdescribed: readonly (readonly [operation: string, described: string])[]
  wrongModel: string
  twoModels: readonly [string, string]
  warm: string
}

/** `tried` is what the search was developed on, `reported` what the rows are of. No pair is in both. */
export const chosen: Record<'tried' | 'reported', Chosen> = {
  tried: {
    plain: 'first',
    brief: 'list',
    weaker: 'count',
    thinking: 'ends',
    rules: [
      ['north', 'first'],
      ['south', 'dashes'],
    ],
    misdescribed: [
      ['last', 'commas'],
      ['commas', 'last'],
      ['list', 'list'],
    ],
    wrongModel: 'mark',
    twoModels: ['commas', 'second'],
    warm: 'drop last',
  },
  reported: {
    plain: 'last',
    brief: 'dashes',
    weaker: 'commas',
    thinking: 'drop first',
    rules: [
      ['red', 'count'],
      ['blue', 'mark'],
    ],
    misdescribed: [
      ['first', 'mark'],
      ['mark', 'dashes'],
      ['dashes', 'first'],
    ],
    wrongModel: 'ends',
    twoModels: ['list', 'count'],
    warm: 'second',
  },
}

const marks = ['red', 'blue', 'green', 'white', 'north', 'south', 'east', 'west']

/**
 * Operations of five times ten pairs, drawn by chance: the first two for development, the others for measuring. None is what the same kind of pair has in
 * `chosen` or in another of the five. Only where a pair takes two operations there are too few: for the fifth, they occur in pairs of the same kind with
 * others. Marks and tools are drawn freely.
 */
export function drawChosen(): Chosen[] {
  const random = createRandom('optimise-pairs', 43)
  const given = Object.values(chosen)
  const draw = (taken: readonly string[]): string[] =>
    random.shuffle(operations.map(({ name }) => name).filter((name) => !taken.includes(name)))
  const of = (kind: 'plain' | 'brief' | 'weaker' | 'thinking' | 'wrongModel' | 'warm'): string[] =>
    draw(given.map((one) => one[kind]))
  const plain = of('plain')
  const brief = of('brief')
  const weaker = of('weaker')
  const thinking = of('thinking')
  const wrongModel = of('wrongModel')
  const warm = of('warm')
  const takenByTwo = given.flatMap((one) => one.twoModels)
  const takenByRules = given.flatMap(({ rules }) => rules.map(([, name]) => name))
  const twoModels = draw(takenByTwo)
  const ruled = draw(takenByRules)
  return [0, 1, 2, 3, 4].map((at) => {
    const tools = draw([]).slice(0, 3)
    const [first, second] = random.shuffle(marks)
    const two = (all: readonly string[], taken: readonly string[]): string[] =>
      all.length > 2 * at ? all.slice(2 * at, 2 * at + 2) : draw(taken).slice(0, 2)
    const [ofFirst, ofSecond] = two(ruled, takenByRules)
    const [own, others] = two(twoModels, takenByTwo)
    return {
      plain: plain[at],
      brief: brief[at],
      weaker: weaker[at],
      thinking: thinking[at],
      rules: [
        [first, ofFirst],
        [second, ofSecond],
      ],
      misdescribed: tools.map((name, place) => [name, tools[(place + 1) % 3]] as const),
      wrongModel: wrongModel[at],
      twoModels: [own, others],
      warm: warm[at],
    }
  })
}
