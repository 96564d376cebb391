import { callTool } from '../definition/plan.ts'
import type { Call } from '../definition/plan.ts'

/** A move of two, the word for it said before: deciding and acting are easier learnt one after the other. */
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
/** The server matches patterns against whole relative paths, so a bare name is only found with `**` before it. */
export const searchName = (name: string, path = '/'): Call =>
  callTool('search_files', { path, pattern: `**/${name}` })
