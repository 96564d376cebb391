import type { Call, WantedAnswer } from '../definition/solution.ts'
import { callTool, done, follow, say } from '../definition/solution.ts'
import type { TaskDraft } from '../definition/task-source.ts'
import type { FileTree, InitialState } from './task.ts'
import { joinPath, nameOf, parentOf } from './task.ts'
import type { FilesystemKind } from './prompt-templates.ts'

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
function textOf(initial: InitialState, file: string): WantedAnswer {
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
const writeFile = (path: string, content: string): Call => callTool('write_file', { path, content })
const editFile = (path: string, oldText: string, newText: string): Call =>
  callTool('edit_file', { path, edits: [{ oldText, newText }] })
export const makeFolder = (path: string): Call => callTool('create_directory', { path })
export const moveFile = (source: string, destination: string): Call =>
  callTool('move_file', { source, destination })
const listFolder = (path: string): Call => callTool('list_directory', { path })
/** The server matches patterns against whole relative paths, so a bare name needs `**` before it. */
export const searchName = (name: string, path = '/'): Call =>
  callTool('search_files', { path, pattern: `**/${name}` })

/** Report the text of a file. */
export const read: FilesystemTaskKind = {
  name: 'read',
  draft(initial) {
    const file = initial.file()
    return {
      holes: { file },
      answer: textOf(initial, file),
      plan: follow(readFile(file), (results) => say(results[0].text)),
      difficulty: 1,
    }
  },
}

/** Report how many files a folder has, one to six. */
export const count: FilesystemTaskKind = {
  name: 'count',
  counts: (random) => [1 + random.int(5)],
  draft(initial) {
    const folder = initial.folders[0]
    const number = Object.keys(initial.files).filter((file) => file.startsWith(`${folder}/`)).length
    return {
      holes: { folder },
      answer: { kind: 'number', number },
      plan: follow(listFolder(folder), (results) => say(String(results[0].text.split('[FILE]').length - 1))),
      difficulty: 1,
      context: { count: number },
    }
  },
}

/** Report the path of a file whose name is given. */
export const find: FilesystemTaskKind = {
  name: 'find',
  draft(initial) {
    const file = initial.file()
    return {
      holes: { name: nameOf(file) },
      answer: {
        kind: 'text',
        text: file,
        others: Object.keys(initial.files).filter((other) => other !== file),
      },
      plan: follow(searchName(nameOf(file)), (results) => say(results[0].text)),
      difficulty: 1,
    }
  },
}

/** Find a file by its name and report its text. */
export const findAndRead: FilesystemTaskKind = {
  name: 'find-and-read',
  draft(initial) {
    const file = initial.file()
    return {
      holes: { name: nameOf(file) },
      answer: textOf(initial, file),
      plan: follow(
        searchName(nameOf(file)),
        (results) => readFile(results[0].text),
        (results) => say(results[1].text),
      ),
      difficulty: 2,
    }
  },
}

/** Move a file into another folder without renaming it. */
export const move: FilesystemTaskKind = {
  name: 'move',
  draft(initial) {
    const file = initial.file()
    const to = initial.folder(parentOf(file))
    const target = joinPath(to, nameOf(file))
    return {
      holes: { file, to },
      changes: { files: { [file]: null, [target]: initial.files[file] } },
      plan: follow(moveFile(file, target), done),
      difficulty: 1,
    }
  },
}

/** Rename a file in its folder. */
export const rename: FilesystemTaskKind = {
  name: 'rename',
  draft(initial) {
    const file = initial.file()
    const fresh = initial.newName()
    const target = joinPath(parentOf(file), fresh)
    return {
      holes: { file, new: fresh },
      changes: { files: { [file]: null, [target]: initial.files[file] } },
      plan: follow(moveFile(file, target), done),
      difficulty: 1,
    }
  },
}

/** Find a file by its name and move it. */
export const findAndMove: FilesystemTaskKind = {
  name: 'find-and-move',
  draft(initial) {
    const file = initial.file()
    const to = initial.folder(parentOf(file))
    const target = joinPath(to, nameOf(file))
    return {
      holes: { name: nameOf(file), to },
      changes: { files: { [file]: null, [target]: initial.files[file] } },
      plan: follow(
        searchName(nameOf(file)),
        (results) => moveFile(results[0].text, joinPath(to, nameOf(results[0].text))),
        done,
      ),
      difficulty: 2,
    }
  },
}

/** Make a folder and move two or three files into it. */
export const gather: FilesystemTaskKind = {
  name: 'gather',
  draft(initial) {
    const folder = initial.newFolder()
    const size = initial.random.next() < 0.8 ? 2 : 3
    const files = initial.random.shuffle(Object.keys(initial.files)).slice(0, size)
    const changes: Record<string, string | null> = {}
    for (const file of files) {
      changes[file] = null
      changes[joinPath(folder, nameOf(file))] = initial.files[file]
    }
    return {
      holes: { folder, files: `${files.slice(0, -1).join(', ')} and ${files[files.length - 1]}` },
      changes: { folders: [folder], files: changes },
      plan: follow(
        makeFolder(folder),
        ...files.map((file) => moveFile(file, joinPath(folder, nameOf(file)))),
        done,
      ),
      difficulty: 1 + size,
      context: { files: size },
    }
  },
}

/** Make a new file with a given text. */
export const write: FilesystemTaskKind = {
  name: 'write',
  draft(initial) {
    const file = joinPath(initial.folder(), initial.newName())
    const text = initial.text()
    return {
      holes: { file, text },
      changes: { files: { [file]: text } },
      plan: follow(writeFile(file, text), done),
      difficulty: 1,
    }
  },
}

/** Replace one word of a file. In a third of the tasks the file has two `key: value` lines. */
export const edit: FilesystemTaskKind = {
  name: 'edit',
  draft(initial) {
    const file = initial.file()
    const old = initial.word('adjectives')
    const fresh = initial.word('adjectives')
    const lines =
      initial.random.next() < 1 / 3
        ? initial.random.shuffle([
            `${initial.word('nouns')}: ${old}`,
            `${initial.word('nouns')}: ${initial.word('adjectives')}`,
          ])
        : [`${initial.word('verbs')} ${old} ${initial.word('nouns')}`]
    const text = lines.join('\n')
    initial.files[file] = text
    // If the word is also part of another word, editing its first occurrence would be ambiguous.
    if (text.split(old).length !== 2) return edit.draft(initial)
    return {
      holes: { file, old, new: fresh },
      changes: { files: { [file]: text.replace(old, fresh) } },
      plan: follow(editFile(file, old, fresh), done),
      difficulty: 1,
      context: { lines: lines.length },
    }
  },
}

/** Copy the text of one file into a new one. */
export const copy: FilesystemTaskKind = {
  name: 'copy',
  draft(initial) {
    const file = initial.file()
    const target = joinPath(initial.folder(), initial.newName())
    return {
      holes: { file, target },
      changes: { files: { [target]: initial.files[file] } },
      plan: follow(readFile(file), (results) => writeFile(target, results[0].text), done),
      difficulty: 2,
    }
  },
}

/** Make a folder. */
export const makeNewFolder: FilesystemTaskKind = {
  name: 'make-folder',
  draft(initial) {
    const parent = initial.folder()
    const folder = joinPath(parent, initial.word('groups'))
    return {
      holes: { folder, parent, name: nameOf(folder) },
      changes: { folders: [folder] },
      plan: follow(makeFolder(folder), done),
      difficulty: 1,
    }
  },
}

/** Make a folder, and a file in it. Writing first fails, because the folder does not exist. */
export const folderThenWrite: FilesystemTaskKind = {
  name: 'folder-then-write',
  draft(initial) {
    const folder = initial.newFolder()
    const name = initial.newName()
    const text = initial.text()
    const file = joinPath(folder, name)
    return {
      holes: { folder, name, text },
      changes: { folders: [folder], files: { [file]: text } },
      plan: follow(makeFolder(folder), writeFile(file, text), done),
      difficulty: 2,
    }
  },
}
