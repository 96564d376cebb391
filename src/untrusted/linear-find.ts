import { automataOf, places } from './linear-pattern.ts'
import type { Program, UnusablePattern, Work } from './linear-pattern.ts'

/** Finds matches of a pattern, as `String.prototype.matchAll` does, in linear time. */
export interface LinearFinder {
  /**
   * The matches in order, from the first character to the one after the last, in UTF-16 units. Empty ones are left out.
   *
   * @throws WorkLimit if it takes more steps than allowed
   */
  find(text: string, work: Work): [from: number, to: number][]
}

/**
 * Reads an ECMAScript pattern (flag `u`) whose matches are wanted and not only whether there is one. All states of an automaton
 * advance in parallel, in the order in which a backtracking engine would try them (Cox 2009, "Regular Expression Matching: the
 * Virtual Machine Approach").
 *
 * @returns `unusable` with the reason for a pattern that cannot be matched in linear time
 */
export function readFinder(source: string): LinearFinder | UnusablePattern {
  const read = automataOf(source)
  if ('unusable' in read) return read
  const { programs, split } = read
  return {
    find(text, work) {
      work.spend(text.length)
      const symbols = split(text)
      const looks: Uint8Array[] = []
      for (const program of programs.slice(0, -1)) looks.push(places(program, symbols, looks, work, false))
      const next = createSearch(programs[programs.length - 1], symbols, looks, work)
      const found: [number, number][] = []
      let [at, unit] = [0, 0]
      for (let match = next(0); match !== undefined; match = next(match[1] + Number(match[0] === match[1]))) {
        const [from, to] = match
        if (from === to) continue
        for (; at < from; at++) unit += symbols[at].length
        const begin = unit
        for (; at < to; at++) unit += symbols[at].length
        found.push([begin, unit])
      }
      return found
    },
  }
}

/** What a character costs besides the steps that are taken at it. */
const stepsOfPlace = 4

type Match = readonly [from: number, to: number]

/** Returns a function that finds the first match at or after a symbol: of those that begin there the one that is preferred. */
function createSearch(
  { steps, start }: Program,
  symbols: readonly string[],
  looks: readonly Uint8Array[],
  work: Work,
): (from: number) => Match | undefined {
  /** The last search and place at which a step was reached, counted from 1. */
  const reached = new Float64Array(steps.length)
  let round = 0
  /** Steps to go on from, with where their match began, the preferred ones first. Both are used in turns. */
  let [open, openFrom] = [new Int32Array(steps.length + 1), new Int32Array(steps.length + 1)]
  let [later, laterFrom] = [new Int32Array(steps.length + 1), new Int32Array(steps.length + 1)]
  const stack: number[] = []

  return (from) => {
    let match: Match | undefined
    let openCount = 0
    for (let place = from; place <= symbols.length; place++) {
      round++
      let laterCount = 0
      if (match === undefined) {
        open[openCount] = start
        openFrom[openCount++] = place
      } else if (openCount === 0) break
      let count = stepsOfPlace
      search: for (let i = 0; i < openCount; i++) {
        stack.push(open[i])
        while (stack.length > 0) {
          const at = stack.pop() as number
          count++
          if (reached[at] === round) continue
          reached[at] = round
          const step = steps[at]
          if (step.kind === 'one') {
            if (place < symbols.length && step.is(symbols[place])) {
              later[laterCount] = step.next
              laterFrom[laterCount++] = openFrom[i]
            }
          } else if (step.kind === 'split') {
            for (let n = step.next.length - 1; n >= 0; n--) stack.push(step.next[n])
          } else if (step.kind === 'match') {
            match = [openFrom[i], place]
            // What is left is less preferred.
            stack.length = 0
            break search
          } else if (step.kind === 'edge') {
            if (step.holds(symbols[place - 1], symbols[place])) stack.push(step.next)
          } else if ((looks[step.look][place] === 1) !== step.negated) stack.push(step.next)
        }
      }
      work.spend(count)
      ;[open, later] = [later, open]
      ;[openFrom, laterFrom] = [laterFrom, openFrom]
      openCount = laterCount
    }
    return match
  }
}
