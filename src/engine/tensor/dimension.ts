import { AgogeError } from '../../error.ts'
import type { Bindings, Dim, Shape } from './types.ts'

/** Sum of monomials: sorted symbols joined by `*` (the empty string for the constant term) -> coefficient. */
type Polynomial = Map<string, number>

function parse(dim: Dim): Polynomial {
  if (typeof dim === 'number') return new Map([['', dim]])
  const terms: Polynomial = new Map()
  for (const term of dim.replaceAll('-', '+-').split('+')) {
    if (term.trim() === '') continue
    let coefficient = 1
    const symbols: string[] = []
    for (const part of term.trim().split('*')) {
      const factor = part.trim()
      if (factor.startsWith('-') && Number.isNaN(Number(factor))) {
        coefficient = -coefficient
        symbols.push(factor.slice(1))
      } else if (factor !== '' && !Number.isNaN(Number(factor))) coefficient *= Number(factor)
      else symbols.push(factor)
    }
    const key = symbols.sort().join('*')
    terms.set(key, (terms.get(key) ?? 0) + coefficient)
  }
  return terms
}

function format(terms: Polynomial): Dim {
  const kept = [...terms].filter(([, coefficient]) => coefficient !== 0).sort(([a], [b]) => (a < b ? -1 : 1))
  if (kept.length === 0) return 0
  if (kept.length === 1 && kept[0]?.[0] === '') return kept[0][1]
  return kept
    .map(([key, coefficient]) =>
      key === '' ? String(coefficient) : coefficient === 1 ? key : `${coefficient}*${key}`,
    )
    .join('+')
}

/** The one spelling of a dimension, so that equal dimensions are equal strings. */
export function canonical(dim: Dim): Dim {
  return typeof dim === 'number' ? dim : format(parse(dim))
}

export function multiplyDims(dims: Shape): Dim {
  let product: Polynomial = new Map([['', 1]])
  for (const dim of dims) {
    const next: Polynomial = new Map()
    for (const [leftKey, left] of product)
      for (const [rightKey, right] of parse(dim)) {
        const key = [...leftKey.split('*'), ...rightKey.split('*')]
          .filter((symbol) => symbol !== '')
          .sort()
          .join('*')
        next.set(key, (next.get(key) ?? 0) + left * right)
      }
    product = next
  }
  return format(product)
}

export function addDims(a: Dim, b: Dim, sign: 1 | -1 = 1): Dim {
  if (typeof a === 'number' && typeof b === 'number') return a + sign * b
  const terms = parse(a)
  for (const [key, coefficient] of parse(b)) terms.set(key, (terms.get(key) ?? 0) + sign * coefficient)
  return format(terms)
}

/** The symbols in a dimension. */
export function symbolsOf(dim: Dim): string[] {
  if (typeof dim === 'number') return []
  return [...new Set([...parse(dim).keys()].flatMap((key) => (key === '' ? [] : key.split('*'))))]
}

export function dimTerms(dim: Dim): { coefficient: number; symbols: string[] }[] {
  return [...parse(dim)].map(([key, coefficient]) => ({
    coefficient,
    symbols: key === '' ? [] : key.split('*'),
  }))
}

export function dimValue(dim: Dim, bindings: Bindings): number {
  if (typeof dim === 'number') return dim
  let total = 0
  for (const { coefficient, symbols } of dimTerms(dim)) {
    let product = coefficient
    for (const symbol of symbols) {
      const value = bindings.get(symbol)
      if (value === undefined)
        throw new AgogeError(`the size ${symbol} is not known from any input`, {
          code: 'unknown-size',
          given: dim,
          expected: `an input with a dimension that is exactly '${symbol}'`,
        })
      product *= value
    }
    total += product
  }
  return total
}
