import { defineKind } from '../kind.ts'
import { between } from '../shared/draws.ts'
import { numberOf } from '../shared/scores.ts'
import { please } from '../shared/words.ts'

/** By trial division; factors that are not prime but give the number are worth a part. */
export const primeFactors = defineKind({
  name: 'prime-factors',
  about: 'the prime factors of a number',
  knobs: { largest: { least: 200, most: 5000, about: 'number' } },
  levels: [{ largest: 200 }, { largest: 500 }, { largest: 2000 }],
  templates: [
    `${please}[factor|factorise|decompose] <number> into primes`,
    '[Write|Give me|Show me] <number> as a product of primes',
    '[What are|Find|List|Name] [the|all] prime factors of <number>, [each as often as it divides|with repetitions]',
  ],
  unseen: ['Break <number> down until only primes are left'],
  draw: (random, { largest }) => ({ number: between(random, 4, largest) }),
  pose({ number }) {
    const factors = primesOf(number)
    let rest = number
    const lines = factors.slice(0, -1).map((factor) => {
      const before = rest
      rest /= factor
      return `${before} = ${factor} * ${rest}`
    })
    return {
      key: String(number),
      holes: { number: String(number) },
      thought: lines.length === 0 ? [`${number} is prime`] : lines,
      answer: factors.join(' * '),
      score(given) {
        const text = given.replace(/^\d+ = /, '').replaceAll('and', ',')
        const said = text.split(/\s*[*×x,]\s*/).map((part) => numberOf(part))
        if (said.length > 40 || said.reduce((product, factor) => product * factor, 1) !== number) return 0
        if (said.sort((a, b) => a - b).join(' ') === factors.join(' ')) return 1
        // One times the number, or signs, are no step towards the factors.
        return said.length > 1 && said.every((factor) => factor > 1) ? 0.3 : 0
      },
    }
  },
})

function primesOf(number: number): number[] {
  const found: number[] = []
  let rest = number
  for (let factor = 2; factor * factor <= rest; factor++) {
    while (rest % factor === 0) {
      found.push(factor)
      rest /= factor
    }
  }
  return rest > 1 ? [...found, rest] : found
}
