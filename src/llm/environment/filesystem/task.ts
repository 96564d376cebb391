import type { Task } from '../../agent/types.ts'

/** A small tree: every folder but the root, and every file with its text, by absolute path (`/notes/a.txt`). */
export interface FileTree {
  folders: readonly string[]
  files: Readonly<Record<string, string>>
}

/** What has to be said at the end. */
export type WantedAnswer =
  /** Anything: the work was the point. But the agent has to come to an end by itself. */
  | { kind: 'any' }
  /** A text; `others` are the values it could be mixed up with. */
  | { kind: 'text'; text: string; others: readonly string[] }
  | { kind: 'number'; number: number }

/** A request to somebody who looks after files, with the sandbox it starts in and the one it should end in. */
export interface FilesystemTask extends Task {
  start: FileTree
  goal: FileTree
  answer: WantedAnswer
}
