import type { Random } from '../../../../engine/random/index.ts'
import { defineKind } from '../kind.ts'
import { between, until } from '../shared/draws.ts'
import { please } from '../shared/words.ts'

/** Its value as an exact fraction. */
function fraction(text: string): [number, number] {
  if (text.includes('/')) return text.split('/').map(Number) as [number, number]
  const places = text.split('.')[1]?.length ?? 0
  return [Math.round(Number(text) * 10 ** places), 10 ** places]
}

const draws: readonly ((random: Random, digits: number) => string)[] = [
  (random, digits) => String(between(random, 1, 10 ** digits - 1)),
  (random, digits) => `${random.int(3)}.${between(random, 1, 10 ** between(random, 1, digits) - 1)}`,
  (random, digits) => `${between(random, 1, 4 * digits)}/${between(random, 2, 4 * digits + 1)}`,
]

/** Which is larger: whole numbers, decimals (0.9 and 0.11), fractions. */
export const comparison = defineKind({
  name: 'comparison',
  about: 'the larger or smaller of two numbers, decimals or fractions',
  knobs: {
    kinds: { least: 1, most: 3, about: '1 = whole numbers, 2 = decimals too, 3 = fractions too' },
    digits: { least: 2, most: 5, about: 'of a number; fractions grow with it' },
  },
  levels: [
    { kinds: 1, digits: 3 },
    { kinds: 2, digits: 3 },
    { kinds: 3, digits: 3 },
  ],
  templates: [
    '[Which is|Which number is|Tell me which is|What is] <wanted>, <a> or <b>',
    `${please}[give me|name|tell me] the <wanted> of <a> and <b>`,
    '[Compare|Look at] <a> and <b>. Which [is|one is] <wanted>',
  ],
  unseen: ['Of the two values <a> and <b>, pick the <wanted>'],
  draw(random, { kinds, digits }) {
    const draw = draws[random.int(kinds)]
    return until(() => {
      const [a, b] = [draw(random, digits), draw(random, digits)]
      const [[p, q], [r, s]] = [fraction(a), fraction(b)]
      return p * s === r * q ? undefined : { a, b, larger: random.int(2) === 0 }
    })
  },
  pose({ a, b, larger }) {
    const [[p, q], [r, s]] = [fraction(a), fraction(b)]
    const wanted = p * s > r * q === larger ? a : b
    const sign = p * s > r * q ? '>' : '<'
    return {
      key: `${larger ? 'larger' : 'smaller'} ${[a, b].sort().join(' ')}`,
      holes: { a, b, wanted: larger ? 'larger' : 'smaller' },
      thought: a.includes('/')
        ? [`${p} * ${s} = ${p * s}, ${r} * ${q} = ${r * q}`, `${a} ${sign} ${b}`]
        : [`${a} ${sign} ${b}`],
      answer: wanted,
      score: (given) => (given.replaceAll(' ', '') === wanted ? 1 : 0),
    }
  },
})
