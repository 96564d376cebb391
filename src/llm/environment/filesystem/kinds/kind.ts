import type { TaskDraft } from '../../definition/task-source.ts'
import type { WantedAnswer } from '../../definition/answer.ts'
import type { FilesystemKind } from '../prompt-templates.ts'
import type { Scene } from '../initial-state.ts'
import type { FileTree } from '../task.ts'

/** What a kind of task makes of a sandbox: names for the holes of the prompt, the wanted end, and how to get there. */
export interface Draft extends TaskDraft {
  holes: Record<string, string>
  /** Changes to the sandbox; `null` takes a file away. */
  changes?: { files?: Record<string, string | null>; folders?: readonly string[] }
  answer?: WantedAnswer
}

export interface FilesystemTaskKind {
  name: FilesystemKind
  /** Files in the first folders, where the kind cares. */
  counts?: (random: Scene['random']) => number[]
  draft: (scene: Scene) => Draft
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

/** The answer that is this file's text, as against the texts of the other files. */
export function textOf(scene: Scene, file: string): WantedAnswer {
  const text = scene.files[file]
  return { kind: 'text', text, others: Object.values(scene.files).filter((other) => other !== text) }
}
