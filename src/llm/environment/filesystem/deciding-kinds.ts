import { done, follow } from '../definition/solution.ts'
import { joinPath, nameOf, parentOf } from './task.ts'
import { decide, makeFolder, moveFile, readFile, searchName } from './kinds.ts'
import type { Draft, FilesystemTaskKind } from './kinds.ts'
import { branchVerbs } from './prompt-templates.ts'

/** States and their opposites that a file may contain. The same in all splits, as templates are. */
export const states = [
  ['yes', 'no'],
  ['open', 'closed'],
  ['done', 'waiting'],
  ['good', 'bad'],
] as const

/** Read a file that contains a state; do one of two things depending on the state. */
export const ifContent: FilesystemTaskKind = {
  name: 'if-content',
  draft(initial) {
    const file = initial.file()
    const [value, opposite] = initial.random.shuffle(initial.random.pick(states))
    const holds = initial.random.next() < 0.5
    initial.files[file] = holds ? value : opposite
    const branch = initial.random.next() < 0.5 ? folders() : places()
    return {
      holes: { file, value, yes: branch.yes, no: branch.no },
      changes: branch.changes(holds),
      plan: follow(
        readFile(file),
        (results) => decide(results[0].text === value, branch.step(true), branch.step(false)),
        done,
      ),
      difficulty: 3,
      context: { holds, branch: branch.kind },
    }

    function folders() {
      const verb = initial.random.pick(branchVerbs.folder)
      const yes = initial.newFolder()
      const no = joinPath(parentOf(yes), initial.word('groups'))
      return {
        kind: 'folder',
        yes: `${verb} ${yes}`,
        no: `${verb} ${no}`,
        step: (truth: boolean) => makeFolder(truth ? yes : no),
        changes: (truth: boolean): NonNullable<Draft['changes']> => ({ folders: [truth ? yes : no] }),
      }
    }

    function places() {
      const verb = initial.random.pick(branchVerbs.move)
      const moved = initial.file(file)
      // Two candidate folders besides the file's own.
      if (initial.folders.length < 3) initial.folders.push(initial.newFolder())
      const yes = initial.folder(parentOf(moved))
      const no = initial.folder(parentOf(moved), yes)
      const target = (truth: boolean): string => joinPath(truth ? yes : no, nameOf(moved))
      return {
        kind: 'move',
        yes: `${verb} ${moved} into ${yes}`,
        no: `${verb} it into ${no}`,
        step: (truth: boolean) => moveFile(moved, target(truth)),
        changes: (truth: boolean): NonNullable<Draft['changes']> => ({
          files: { [moved]: null, [target(truth)]: initial.files[moved] },
        }),
      }
    }
  },
}

/** Look for a file in a folder. Move it if it is there, make a folder if it is not. */
export const ifExists: FilesystemTaskKind = {
  name: 'if-exists',
  counts: (random) => [1 + random.int(3)],
  draft(initial) {
    const folder = initial.folders[0]
    const inside = Object.keys(initial.files).filter((file) => parentOf(file) === folder)
    const exists = initial.random.next() < 0.5
    const name = exists ? nameOf(initial.random.pick(inside)) : initial.newName()
    const file = joinPath(folder, name)
    const to = initial.folder(folder)
    const target = joinPath(to, name)
    const made = initial.newFolder()
    return {
      holes: {
        folder,
        name,
        yes: `${initial.random.pick(branchVerbs.move)} it into ${to}`,
        no: `${initial.random.pick(branchVerbs.folder)} ${made}`,
      },
      changes: exists ? { files: { [file]: null, [target]: initial.files[file] } } : { folders: [made] },
      plan: follow(
        searchName(name, folder),
        (results) => decide(results[0].text === file, moveFile(file, target), makeFolder(made)),
        done,
      ),
      difficulty: 3,
      context: { exists, tools: ['search_files', exists ? 'move_file' : 'create_directory'] },
    }
  },
}
