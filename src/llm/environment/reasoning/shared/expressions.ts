import type { Random } from '../../../../engine/random/index.ts'

/** An expression over whole numbers. */
export type Expression = { value: number } | { operator: Operator; left: Expression; right: Expression }
type Operator = '+' | '-' | '*' | '/'

export function evaluate(expression: Expression): number {
  if ('value' in expression) return expression.value
  return apply(expression.operator, evaluate(expression.left), evaluate(expression.right))
}

export function apply(operator: Operator, left: number, right: number): number {
  if (operator === '+') return left + right
  if (operator === '-') return left - right
  return operator === '*' ? left * right : left / right
}

const rank = { '+': 1, '-': 1, '*': 2, '/': 2 } as const

/**
 * Formats an expression. Adds brackets where a part would otherwise be read differently, and on the right also where it
 * would only be evaluated earlier.
 */
export function print(expression: Expression): string {
  if ('value' in expression) return String(expression.value)
  const { operator, left, right } = expression
  const wrap = (side: Expression, least: number): string =>
    'value' in side || rank[side.operator] >= least ? print(side) : `(${print(side)})`
  return `${wrap(left, rank[operator])} ${operator} ${wrap(right, rank[operator] + 1)}`
}

/** The numbers in it, from left to right. */
export function operands(expression: Expression): number[] {
  if ('value' in expression) return [expression.value]
  return [...operands(expression.left), ...operands(expression.right)]
}

/** Evaluates the first operation that is ready; undefined for a number. */
export function reduce(expression: Expression): Expression | undefined {
  if ('value' in expression) return undefined
  const { operator, left, right } = expression
  const first = reduce(left)
  if (first !== undefined) return { operator, left: first, right }
  const second = reduce(right)
  if (second !== undefined) return { operator, left, right: second }
  return { value: evaluate(expression) }
}

/** Longest text that is parsed. It also limits the depth of brackets. */
const longest = 200

/** Parses numbers, + - * / (also × ÷ x) and brackets; undefined for anything else. */
export function parse(text: string): Expression | undefined {
  if (text.length > longest) return undefined
  const plain = text.replaceAll(/[×x]/g, '*').replaceAll('÷', '/').replaceAll('−', '-')
  const tokens = plain.match(/\d+|\S/g) ?? []
  let at = 0

  function sum(): Expression | undefined {
    return chain(product, ['+', '-'])
  }
  function product(): Expression | undefined {
    return chain(atom, ['*', '/'])
  }
  function chain(part: () => Expression | undefined, operators: readonly string[]): Expression | undefined {
    let left = part()
    while (left !== undefined && operators.includes(tokens[at])) {
      const operator = tokens[at++] as Operator
      const right = part()
      if (right === undefined) return undefined
      left = { operator, left, right }
    }
    return left
  }
  function atom(): Expression | undefined {
    const token = tokens[at++]
    if (token === '(') {
      const inside = sum()
      return tokens[at++] === ')' ? inside : undefined
    }
    return token !== undefined && /^\d+$/.test(token) ? { value: Number(token) } : undefined
  }

  const whole = sum()
  return at === tokens.length ? whole : undefined
}

/** A formula of propositional logic. */
export type Formula =
  | { letter: string }
  | { truth: boolean }
  | { operator: 'not'; inner: Formula }
  | { operator: Connective; left: Formula; right: Formula }
type Connective = 'and' | 'or' | 'implies'

const connectives = ['and', 'or', 'implies'] as const

/** Draws a formula with this many connectives (besides negations) that contains every letter at least once. */
export function drawFormula(random: Random, letters: readonly string[], size: number): Formula {
  const leaves = [
    ...letters,
    ...Array.from({ length: Math.max(0, size + 1 - letters.length) }, () => random.pick(letters)),
  ]
  const build = (parts: readonly string[]): Formula => {
    if (parts.length === 1) return maybeNot({ letter: parts[0] })
    const cut = 1 + random.int(parts.length - 1)
    const operator = random.pick(connectives)
    const formula = { operator, left: build(parts.slice(0, cut)), right: build(parts.slice(cut)) }
    return random.next() < 0.15 ? { operator: 'not', inner: formula } : formula
  }
  const maybeNot = (inner: Formula): Formula => (random.next() < 0.3 ? { operator: 'not', inner } : inner)
  return build(random.shuffle(leaves))
}

export function holds(formula: Formula, truths: Readonly<Record<string, boolean>>): boolean {
  if ('letter' in formula) return truths[formula.letter]
  if ('truth' in formula) return formula.truth
  if (formula.operator === 'not') return !holds(formula.inner, truths)
  const left = holds(formula.left, truths)
  const right = holds(formula.right, truths)
  if (formula.operator === 'and') return left && right
  return formula.operator === 'or' ? left || right : !left || right
}

/** Formats a formula in words, with brackets around every connective except the outermost. */
export function printFormula(formula: Formula, outermost = true): string {
  if ('letter' in formula) return formula.letter
  if ('truth' in formula) return String(formula.truth)
  if (formula.operator === 'not') return `not ${printFormula(formula.inner, false)}`
  const text = `${printFormula(formula.left, false)} ${formula.operator} ${printFormula(formula.right, false)}`
  return outermost ? text : `(${text})`
}

/** Replaces letters by their truth values. */
export function substitute(formula: Formula, truths: Readonly<Record<string, boolean>>): Formula {
  if ('letter' in formula) return { truth: truths[formula.letter] }
  if ('truth' in formula) return formula
  if (formula.operator === 'not') return { operator: 'not', inner: substitute(formula.inner, truths) }
  const { operator, left, right } = formula
  return { operator, left: substitute(left, truths), right: substitute(right, truths) }
}

/** Evaluates at once all negations and connectives whose operands are truth values; undefined for a truth value. */
export function reduceFormula(formula: Formula): Formula | undefined {
  if ('truth' in formula || 'letter' in formula) return undefined
  if (formula.operator === 'not') {
    const inner = reduceFormula(formula.inner)
    return inner === undefined ? { truth: holds(formula, {}) } : { operator: 'not', inner }
  }
  const left = reduceFormula(formula.left)
  const right = reduceFormula(formula.right)
  if (left === undefined && right === undefined) return { truth: holds(formula, {}) }
  return { operator: formula.operator, left: left ?? formula.left, right: right ?? formula.right }
}

/** All assignments to the letters. The first letter changes slowest; true comes first. */
export function assignments(letters: readonly string[]): Record<string, boolean>[] {
  return Array.from({ length: 2 ** letters.length }, (_, row) =>
    Object.fromEntries(letters.map((letter, i) => [letter, ((row >> (letters.length - 1 - i)) & 1) === 0])),
  )
}
