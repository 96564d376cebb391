import type { Random } from '../../../../engine/random/index.ts'
import { defineKind } from '../kind.ts'
import { numbers as differentNumbers, listed, please, until } from '../shared/draws.ts'
import { apply, evaluate, type Expression, operands, parse, print, reduce } from '../shared/expressions.ts'
import { partly } from '../shared/scores.ts'

/** Reach a number with each of the given ones used once; many answers are right. */
export const countdown = defineKind({
  name: 'countdown',
  about: 'an expression that makes a target of given numbers, each used exactly once',
  knobs: {
    numbers: { least: 2, most: 6, about: 'given' },
    largest: { least: 9, most: 100, about: 'number given' },
    target: { least: 20, most: 999, about: 'largest target' },
  },
  levels: [
    { numbers: 2, largest: 20, target: 60 },
    { numbers: 3, largest: 20, target: 100 },
    { numbers: 4, largest: 25, target: 200 },
  ],
  templates: [
    `${please}[make|reach|get] <target> [from|with|out of] the numbers <numbers>, [using each|each used] exactly once`,
    '[Use|Take|Combine] <numbers>, each exactly once, to [make|reach|get] <target>',
    '[Find|Give me|Write] an expression that [makes|equals|gives] <target> and has each of <numbers> exactly once',
  ],
  unseen: ['Which calculation with <numbers> comes to <target>, if no number may be left over or repeated'],
  draw(random, { numbers, largest, target }) {
    return until(() => {
      const given = differentNumbers(random, numbers, 1, largest)
      const solution = combine(random, given)
      const value = evaluate(solution)
      return value <= target && !given.includes(value) ? { given, solution } : undefined
    })
  },
  pose({ given, solution }) {
    const target = evaluate(solution)
    const sorted = [...given].sort((a, b) => a - b)
    return {
      key: `${sorted.join(' ')} -> ${target}`,
      holes: { numbers: listed(given.map(String)), target: String(target) },
      thought: steps(solution),
      answer: print(solution),
      score: (answer) => scoreExpression(answer, sorted, target),
    }
  },
})

/**
 * 1 for the target by each number once. Otherwise: the right value with wrong numbers is worth up to 0.4, by the share of
 * the given numbers among those used, so that writing the target down is worth nothing; the right numbers with a wrong value
 * are worth 0.1.
 */
function scoreExpression(answer: string, given: readonly number[], target: number): number {
  const [text, ...results] = answer.split('=')
  const expression = parse(text.trim())
  if (expression === undefined || 'value' in expression) return 0
  const value = evaluate(expression)
  if (results.length > 1 || (results.length === 1 && Number(results[0]) !== value)) return 0
  const used = operands(expression)
  const left = [...given]
  let legal = 0
  for (const number of used) {
    const at = left.indexOf(number)
    if (at < 0) continue
    left.splice(at, 1)
    legal++
  }
  const share = legal / Math.max(used.length, given.length)
  if (Math.abs(value - target) > 1e-9) return share === 1 ? 0.1 : 0
  return share === 1 ? 1 : partly(0.8 * share)
}

/** Numbers put together in pairs such that every result is a positive whole number. */
function combine(random: Random, given: readonly number[]): Expression {
  const parts: Expression[] = given.map((value) => ({ value }))
  while (parts.length > 1) {
    const [one, other] = random.shuffle(parts)
    const [small, large] = [one, other].sort((a, b) => evaluate(a) - evaluate(b))
    const possible = (['+', '+', '-', '-', '*', '/'] as const).filter((operator) => {
      const value = apply(operator, evaluate(large), evaluate(small))
      return value > 0 && Number.isInteger(value)
    })
    parts.splice(parts.indexOf(one), 1)
    parts.splice(parts.indexOf(other), 1)
    parts.push({ operator: random.pick(possible), left: large, right: small })
  }
  return parts[0]
}

function steps(expression: Expression): string[] {
  const lines: string[] = []
  for (let left = expression, next = reduce(left); next !== undefined; left = next, next = reduce(left))
    lines.push(doneBetween(left, next))
  return lines
}

/** The one operation that `next` has done, as "3 * 4 = 12". */
function doneBetween(before: Expression, next: Expression): string {
  if ('value' in before) return ''
  if ('value' in next) return `${print(before)} = ${next.value}`
  return print(before.left) === print(next.left)
    ? doneBetween(before.right, next.right)
    : doneBetween(before.left, next.left)
}
