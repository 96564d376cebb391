/**
 * Parses the number that an answer gives: digits with a sign, a point or commas between thousands, optionally after "x
 * =" or before one of `units`. NaN for anything else.
 */
export function numberOf(answer: string, units: readonly string[] = []): number {
  const text = answer.toLowerCase().replaceAll('−', '-').trim()
  const unit = units.find((name) => text.endsWith(name) && !/[a-z]/.test(text.at(-name.length - 1) ?? ' '))
  const said = (unit === undefined ? text : text.slice(0, -unit.length)).trim().replace(/^[a-z]?\s*=\s*/, '')
  if (!/^[+-]?\s*(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?$/.test(said)) return Number.NaN
  return Number(said.replaceAll(/[,\s]/g, ''))
}

/** 1 for exactly this number, else 0. */
export const scoreNumber = (answer: string, wanted: number, units?: readonly string[]): number =>
  Math.abs(numberOf(answer, units) - wanted) < 1e-9 ? 1 : 0

/** 1 for this word (or line of words), ignoring case and an article before it; else 0. */
export const scoreWord = (answer: string, wanted: string): number =>
  answer.toLowerCase().replace(/^(?:an?|the) /, '') === wanted.toLowerCase() ? 1 : 0

/** The parts of a list, in lower case: "1, 2 and 3", "[1 2 3]", "1 -> 2 -> 3". */
export function itemsOf(answer: string): string[] {
  return answer
    .toLowerCase()
    .replaceAll(/[[\](){}]/g, ' ')
    .split(/[\s,;]+|->|→/)
    .filter((item) => item !== '' && item !== 'and')
}

/** Partial credit of a wrong answer with this share right: at most a half. */
export const partly = (share: number): number => 0.5 * Math.max(0, Math.min(1, share))

/** 1 for the list in this order; else half the share of correct places, relative to the longer list. */
export function scoreList(given: readonly string[], wanted: readonly string[]): number {
  const right = wanted.filter((item, i) => given[i] === item.toLowerCase()).length
  const length = Math.max(given.length, wanted.length)
  return right === length ? 1 : partly(right / length)
}

/** 1 for the same members in any order; else half the size of the intersection over the union. */
export function scoreSet(given: readonly string[], wanted: readonly string[]): number {
  const said = new Set(given)
  const members = new Set(wanted.map((item) => item.toLowerCase()))
  const shared = [...members].filter((item) => said.has(item)).length
  const either = members.size + said.size - shared
  return shared === either && given.length === said.size ? 1 : partly(shared / either)
}

/** Partial credit of several yes-or-no decisions. Guessing all of them scores 0 on average. */
export function scoreDecisions(right: number, all: number): number {
  return right === all ? 1 : partly((2 * right) / all - 1)
}
