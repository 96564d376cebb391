import { follow, say } from '../../definition/plan.ts'
import { type FilesystemTaskKind, listFolder, readFile, searchName, textOf } from './kind.ts'
import { nameOf } from '../initial-state.ts'

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
