import type { Task } from '../../agent/types.ts'
import type { WantedAnswer } from '../definition/answer.ts'

/** A small tree: every folder but the root, and every file with its text, by absolute path (`/notes/a.txt`). */
export interface FileTree {
  folders: readonly string[]
  files: Readonly<Record<string, string>>
}

/** A request to somebody who looks after files, with the sandbox it starts in and the one it should end in. */
export interface FilesystemTask extends Task {
  start: FileTree
  goal: FileTree
  answer: WantedAnswer
}
