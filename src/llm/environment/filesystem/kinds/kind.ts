import type { WantedAnswer } from '../../definition/answer.ts'
import { type Call, callTool } from '../../definition/plan.ts'
import type { TaskDraft } from '../../definition/task-source.ts'
import type { InitialState } from '../initial-state.ts'
import type { FilesystemKind } from '../prompt-templates.ts'
import type { FileTree } from '../task.ts'

/** A drawn task: placeholder values for the prompt, the goal state, and the expert's plan. */
export interface Draft extends TaskDraft {
  holes: Record<string, string>
  /** Changes to the sandbox; `null` removes a file. */
  changes?: { files?: Record<string, string | null>; folders?: readonly string[] }
  answer?: WantedAnswer
}

export interface FilesystemTaskKind {
  name: FilesystemKind
  /** Number of files in the first folders, for kinds that need it. */
  counts?: (random: InitialState['random']) => number[]
  draft: (initial: InitialState) => Draft
}

/** The sandbox after the changes of a draft. */
export function applyChanges(start: FileTree, changes: Draft['changes'] = {}): FileTree {
  const files: Record<string, string> = { ...start.files }
  for (const [path, content] of Object.entries(changes.files ?? {})) {
    if (content === null) delete files[path]
    else files[path] = content
  }
  return { folders: [...start.folders, ...(changes.folders ?? [])], files }
}

/** The answer is this file's text; the texts of the other files must not appear. */
export function textOf(initial: InitialState, file: string): WantedAnswer {
  const text = initial.files[file]
  return { kind: 'text', text, others: Object.values(initial.files).filter((other) => other !== text) }
}

/**
 * One of two possible moves, with its decision stated before it: deciding and acting are easier to learn one after the
 * other.
 */
export const decide = (met: boolean, yes: Call, no: Call): Call =>
  met ? { ...yes, thought: 'yes' } : { ...no, thought: 'no' }

export const readFile = (path: string): Call => callTool('read_text_file', { path })
export const writeFile = (path: string, content: string): Call => callTool('write_file', { path, content })
export const editFile = (path: string, oldText: string, newText: string): Call =>
  callTool('edit_file', { path, edits: [{ oldText, newText }] })
export const makeFolder = (path: string): Call => callTool('create_directory', { path })
export const moveFile = (source: string, destination: string): Call =>
  callTool('move_file', { source, destination })
export const listFolder = (path: string): Call => callTool('list_directory', { path })
/** The server matches patterns against whole relative paths, so a bare name needs `**` before it. */
export const searchName = (name: string, path = '/'): Call =>
  callTool('search_files', { path, pattern: `**/${name}` })
