import type { Expert } from '../../agent/types.ts'

/** What the calls of an episode have returned so far. */
export type Results = Parameters<Expert>[0]
/** A call, or the final answer. */
export type Move = ReturnType<Expert>
export type Call = Extract<Move, { call: unknown }>

/** A step of a plan: a move, or one that depends on the results so far. */
export type Step = Move | ((results: Results) => Move)

/** The expert that takes the steps in order, whatever they return, and repeats the last one. */
export function follow(...steps: readonly Step[]): Expert {
  return (results) => {
    const step = steps[Math.min(results.length, steps.length - 1)]
    return typeof step === 'function' ? step(results) : step
  }
}

/** Ends a plan whose calls were all that was asked for. */
export const done: Move = { answer: 'done' }
/** Ends a plan with an answer. */
export const say = (answer: string): Move => ({ answer })
export const callTool = (name: string, args: Record<string, unknown>): Call => ({
  call: { name, arguments: args },
})

/** The names of the tools that an expert calls, in order, where the results do not choose among them. */
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
