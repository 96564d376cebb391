import type { Random } from '../../../../engine/random/index.ts'

/** A formula of propositional logic. */
export type Formula =
  | { letter: string }
  | { truth: boolean }
  | { operator: 'not'; inner: Formula }
  | { operator: Connective; left: Formula; right: Formula }
export type Connective = 'and' | 'or' | 'implies'

const connectives = ['and', 'or', 'implies'] as const

/** A random formula with this many connectives (besides negations) that has every letter at least once. */
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

/** In words, with brackets around every connective but the outermost. */
export function printFormula(formula: Formula, outermost = true): string {
  if ('letter' in formula) return formula.letter
  if ('truth' in formula) return String(formula.truth)
  if (formula.operator === 'not') return `not ${printFormula(formula.inner, false)}`
  const text = `${printFormula(formula.left, false)} ${formula.operator} ${printFormula(formula.right, false)}`
  return outermost ? text : `(${text})`
}

/** Letters replaced by their truth. */
export function substitute(formula: Formula, truths: Readonly<Record<string, boolean>>): Formula {
  if ('letter' in formula) return { truth: truths[formula.letter] }
  if ('truth' in formula) return formula
  if (formula.operator === 'not') return { operator: 'not', inner: substitute(formula.inner, truths) }
  const { operator, left, right } = formula
  return { operator, left: substitute(left, truths), right: substitute(right, truths) }
}

/** All negations and connectives that stand on truths alone done at once; undefined for a truth. */
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

/** All assignments to the letters; the first letter changes slowest, true comes first. */
export function assignments(letters: readonly string[]): Record<string, boolean>[] {
  return Array.from({ length: 2 ** letters.length }, (_, row) =>
    Object.fromEntries(letters.map((letter, i) => [letter, ((row >> (letters.length - 1 - i)) & 1) === 0])),
  )
}
