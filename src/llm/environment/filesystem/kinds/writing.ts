import { done, follow } from '../../definition/plan.ts'
import { editFile, type FilesystemTaskKind, makeFolder, readFile, writeFile } from './kind.ts'
import { joinPath, nameOf } from '../initial-state.ts'

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
