import { singular } from './inflect.ts'
import type { ToolWords } from './tool-words.ts'

/** How people say a computation, with `A` and `B` for its numbers. */
interface Operation {
  cue: RegExp
  compute: (a: number, b: number) => number
  /** Noun phrases: "the sum of 3 and 5". */
  phrases: readonly string[]
  rarePhrases: readonly string[]
  /** Requests: "add 3 and 5". */
  requests: readonly string[]
  rareRequests: readonly string[]
}

const binary: readonly Operation[] = [
  {
    cue: /^(?:add|addition|sum|plus|total)$/,
    compute: (a, b) => a + b,
    phrases: ['the sum of A and B', 'A plus B', 'A and B together', 'the total of A and B'],
    rarePhrases: ['the result of adding B to A', 'what A and B amount to'],
    requests: ['add A and B', 'add up A and B', 'add B to A', 'sum A and B'],
    rareRequests: ['put A and B together', 'tally A with B'],
  },
  {
    cue: /^(?:subtract|subtraction|sub|minus|difference)$/,
    compute: (a, b) => a - b,
    phrases: ['A minus B', 'A less B', 'what is left of A without B', 'the difference of A and B'],
    rarePhrases: ['the remainder once B leaves A', 'how far A exceeds B'],
    requests: ['subtract B from A', 'take B away from A', 'take B from A', 'calculate A minus B'],
    rareRequests: ['deduct B from A', 'lower A by B'],
  },
  {
    cue: /^(?:multiply|multiplication|mul|product|times)$/,
    compute: (a, b) => a * b,
    phrases: ['the product of A and B', 'A times B', 'A multiplied by B'],
    rarePhrases: ['A groups of B', 'the outcome of multiplying A with B'],
    requests: ['multiply A by B', 'multiply A and B', 'calculate A times B', 'take A times B'],
    rareRequests: ['scale A by B'],
  },
  {
    cue: /^(?:divide|division|div|quotient)$/,
    compute: (a, b) => a / b,
    phrases: ['A divided by B', 'the quotient of A and B', 'A over B'],
    rarePhrases: ['each share when A is split among B', 'how often B fits into A'],
    requests: ['divide A by B', 'calculate A over B', 'split A by B'],
    rareRequests: ['share A equally among B'],
  },
  {
    cue: /^(?:modulo|mod|modulus|remainder)$/,
    compute: (a, b) => a % b,
    phrases: [
      'A modulo B',
      'the remainder of A divided by B',
      'what remains when A is divided by B',
      'A mod B',
    ],
    rarePhrases: ['the leftover of dividing A by B', 'what is spare after sharing A among B'],
    requests: ['take A modulo B', 'divide A by B and give me the remainder', 'calculate A mod B'],
    rareRequests: ['share A among B and report the leftover'],
  },
  {
    cue: /^(?:power|pow|exponent|exponentiation)$/,
    compute: (a, b) => a ** b,
    phrases: ['A to the power of B', 'A raised to the power B', 'A to the B'],
    rarePhrases: ['the result of raising A to B'],
    requests: ['raise A to the power of B', 'calculate A to the power of B'],
    rareRequests: ['multiply A by itself B times over'],
  },
]

const unary: readonly Operation[] = [
  {
    cue: /^(?:sqrt|square root|root)$/,
    compute: (a) => Math.sqrt(a),
    phrases: ['the square root of A', 'the root of A', 'the number whose square is A'],
    rarePhrases: ['which number squared gives A'],
    requests: ['take the square root of A', 'calculate the root of A', 'work out the square root of A'],
    rareRequests: ['extract the root of A'],
  },
  {
    cue: /^(?:square|squared)$/,
    compute: (a) => a * a,
    phrases: ['the square of A', 'A squared', 'A times itself'],
    rarePhrases: ['the outcome of A multiplied by itself'],
    requests: ['square A', 'multiply A by itself'],
    rareRequests: ['raise A to its square'],
  },
  {
    cue: /^(?:absolute|abs|absolute value)$/,
    compute: (a) => Math.abs(a),
    phrases: ['the absolute value of A', 'A without its sign', 'the size of A'],
    rarePhrases: ['the magnitude of A'],
    requests: ['take the absolute value of A', 'drop the sign of A'],
    rareRequests: ['give the magnitude of A'],
  },
  {
    cue: /^(?:factorial)$/,
    compute: (a) =>
      Array.from({ length: Math.max(0, a) }, (_, index) => index + 1).reduce((all, n) => all * n, 1),
    phrases: ['the factorial of A', 'A factorial'],
    rarePhrases: ['the product of all numbers up to A'],
    requests: ['calculate the factorial of A', 'take the factorial of A'],
    rareRequests: ['multiply all numbers up to A'],
  },
]

/** A computation in words, its numbers filled in. */
export interface Computation {
  phrases: readonly string[]
  rarePhrases: readonly string[]
  requests: readonly string[]
  rareRequests: readonly string[]
}

/**
 * The words of a computation if the tool's words name one and its result confirms it. The order of the two numbers is
 * the one that gives the result. Undefined for other tools.
 */
export function readComputation(
  name: string,
  words: ToolWords,
  args: Readonly<Record<string, unknown>>,
  result: string,
): Computation | undefined {
  const numbers = Object.values(args)
  if (!numbers.every((value): value is number => typeof value === 'number')) return undefined
  const found = [...result.matchAll(/-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi)].map(([text]) => Number(text))
  const said = [
    ...name.split(/[^a-z]+/i),
    words.verb ?? '',
    ...words.object.split(' '),
    words.object,
    words.phrase ?? '',
  ]
    .flatMap((text) => [text, ...text.split(' ')])
    .map((text) => singular(text.toLowerCase()))
  const operation = (numbers.length === 2 ? binary : numbers.length === 1 ? unary : []).find(({ cue }) =>
    said.some((word) => cue.test(word)),
  )
  if (operation === undefined) return undefined
  const [a, b = 0] = numbers
  const gives = (x: number, y: number): boolean =>
    found.some((value) => isNear(value, operation.compute(x, y)))
  const order = gives(a, b) ? [a, b] : gives(b, a) ? [b, a] : undefined
  if (order === undefined) return undefined
  const fill = (texts: readonly string[]): string[] =>
    texts.map((text) => text.replace(/\bA\b/g, String(order[0])).replace(/\bB\b/g, String(order[1])))
  return {
    phrases: fill(operation.phrases),
    rarePhrases: fill(operation.rarePhrases),
    requests: fill(operation.requests),
    rareRequests: fill(operation.rareRequests),
  }
}

function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-3 * Math.max(1, Math.abs(b))
}
