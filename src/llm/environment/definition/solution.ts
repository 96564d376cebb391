import type { Expert } from '../../agent/types.ts'

/** Results of the calls of an episode so far. */
export type Results = Parameters<Expert>[0]
/** A call, or the final answer. */
export type Move = ReturnType<Expert>
export type Call = Extract<Move, { call: unknown }>

/** A step of a plan: a call, an answer, or a function that makes one from the results so far. */
export type Step = Move | ((results: Results) => Move)

/** Makes an expert that takes the steps in order, whatever they return, and then repeats the last one. */
export function follow(...steps: readonly Step[]): Expert {
  return (results) => {
    const step = steps[Math.min(results.length, steps.length - 1)]
    return typeof step === 'function' ? step(results) : step
  }
}

/** The last step of a plan that only makes calls. */
export const done: Move = { answer: 'done' }
/** The last step of a plan that gives an answer. */
export const say = (answer: string): Move => ({ answer })
export const callTool = (name: string, args: Record<string, unknown>): Call => ({
  call: { name, arguments: args },
})

/** Lists the tools that an expert calls, in order, if its calls do not depend on results. */
export function toolsOf(plan: Expert): string[] {
  const tools: string[] = []
  const results: { text: string; isError: boolean }[] = []
  for (;;) {
    const move = plan(results)
    if ('answer' in move) return tools
    tools.push(move.call.name)
    results.push({ text: '', isError: false })
  }
}

/** The answer that a task requires. */
export type WantedAnswer =
  /** Any answer is accepted because only the state counts. The agent must still end the episode itself. */
  | { kind: 'any' }
  /** A text; `others` are the values it could be mixed up with. */
  | { kind: 'text'; text: string; others: readonly string[] }
  | { kind: 'number'; number: number }

/** How many extra characters a text answer may have. It allows "The file says ...", but not a list of everything. */
const surroundings = 80

/**
 * Returns whether the answer is the required one. Surrounding spaces, quotes and a full stop are ignored; case matters.
 * A text must be the required value, or a short sentence that contains the whole value and none of the values it could
 * be confused with. A number must be the only number in the answer.
 */
export function answers(wanted: WantedAnswer, answer: string | null): boolean {
  if (answer === null || answer.trim() === '') return false
  if (wanted.kind === 'any') return true
  if (wanted.kind === 'number') {
    const numbers = answer.match(/\d+(?:\.\d+)?/g) ?? []
    return numbers.length === 1 && Number(numbers[0]) === wanted.number && !answer.includes('-')
  }
  const said = bare(answer)
  const text = bare(wanted.text)
  if (said === text) return true
  if (said.length > text.length + surroundings || !holds(said, text)) return false
  const rest = said.replace(text, ' ')
  return !wanted.others.some((other) => other !== '' && holds(rest, bare(other)))
}

const bare = (text: string): string =>
  text
    .trim()
    .replace(/^["'`“]+|(?<!["'`”.\s])["'`”.\s]+$/g, '')
    .trim()

/** True if the text contains the value as a whole, not as part of a longer word or path. */
function holds(text: string, value: string): boolean {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    const before = text.charAt(at - 1)
    const after = text.slice(at + value.length)
    if (!/[\w/.-]/.test(before) && !/^(?:[\w/-]|\.\w)/.test(after)) return true
  }
  return false
}
