import type { Expert } from '../../agent/types.ts'

export type Results = Parameters<Expert>[0]
export type Move = ReturnType<Expert>
export type Call = Extract<Move, { call: unknown }>

/** A step of a plan: a call, or one that depends on the results so far. */
export type Step = Move | ((results: Results) => Move)

/** The planner that takes the steps in order, whatever they return. */
export function follow(...steps: readonly Step[]): Expert {
  return (results) => {
    const step = steps[Math.min(results.length, steps.length - 1)]
    return typeof step === 'function' ? step(results) : step
  }
}

/** A move of two, the verdict said before it: deciding and acting are easier learnt one after the other. */
export const predict = (met: boolean, yes: Call, no: Call): Call =>
  met ? { ...yes, thought: 'yes' } : { ...no, thought: 'no' }

/** The tools that a planner calls, in order, where it is not the results that choose among them. */
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

export const done: Move = { answer: 'done' }
export const say = (answer: string): Move => ({ answer })

const call = (name: string, args: Record<string, unknown>): Call => ({ call: { name, arguments: args } })

export const readFile = (path: string): Call => call('read_text_file', { path })
export const writeFile = (path: string, content: string): Call => call('write_file', { path, content })
export const editFile = (path: string, oldText: string, newText: string): Call =>
  call('edit_file', { path, edits: [{ oldText, newText }] })
export const makeFolder = (path: string): Call => call('create_directory', { path })
export const moveFile = (source: string, destination: string): Call =>
  call('move_file', { source, destination })
export const listFolder = (path: string): Call => call('list_directory', { path })
/** The server matches patterns against whole relative paths, so a bare name is only found with `**` before it. */
export const searchName = (name: string, path = '/'): Call =>
  call('search_files', { path, pattern: `**/${name}` })
