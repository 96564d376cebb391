import { done, follow } from '../../definition/plan.ts'
import { type FilesystemTaskKind, makeFolder, moveFile, searchName } from './kind.ts'
import { joinPath, nameOf, parentOf } from '../initial-state.ts'

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
