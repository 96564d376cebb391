import type { Planner } from '../../agent/types.ts'

export type Results = Parameters<Planner>[0]
export type Move = ReturnType<Planner>

/** A step of a plan: a call, or one that depends on the results so far. */
export type Step = Move | ((results: Results) => Move)

/** The planner that takes the steps in order, whatever they return. */
export function follow(...steps: readonly Step[]): Planner {
  return (results) => {
    const step = steps[Math.min(results.length, steps.length - 1)]
    return typeof step === 'function' ? step(results) : step
  }
}

export const done: Move = { answer: 'done' }
export const say = (answer: string): Move => ({ answer })

const call = (name: string, args: Record<string, unknown>): Move => ({ call: { name, arguments: args } })

export const readFile = (path: string): Move => call('read_text_file', { path })
export const writeFile = (path: string, content: string): Move => call('write_file', { path, content })
export const editFile = (path: string, oldText: string, newText: string): Move =>
  call('edit_file', { path, edits: [{ oldText, newText }] })
export const makeFolder = (path: string): Move => call('create_directory', { path })
export const moveFile = (source: string, destination: string): Move =>
  call('move_file', { source, destination })
export const listFolder = (path: string): Move => call('list_directory', { path })
/** The server matches patterns against whole relative paths, so a bare name is only found with `**` before it. */
export const searchName = (name: string, path = '/'): Move =>
  call('search_files', { path, pattern: `**/${name}` })
