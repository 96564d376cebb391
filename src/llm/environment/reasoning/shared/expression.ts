/** An expression over whole numbers. */
export type Expression = { value: number } | { operator: Operator; left: Expression; right: Expression }
export type Operator = '+' | '-' | '*' | '/'

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

/** With brackets where a part would otherwise be read differently, on the right also where it would only be done earlier. */
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

/** With the first operation that is ready done; undefined for a number. */
export function reduce(expression: Expression): Expression | undefined {
  if ('value' in expression) return undefined
  const { operator, left, right } = expression
  const first = reduce(left)
  if (first !== undefined) return { operator, left: first, right }
  const second = reduce(right)
  if (second !== undefined) return { operator, left, right: second }
  return { value: evaluate(expression) }
}

/** Longest text that is read as an expression; it also bounds the depth of the brackets. */
const longest = 200

/** Reads numbers, + - * / (also × ÷ x) and brackets; undefined for anything else. */
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
