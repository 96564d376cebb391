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
