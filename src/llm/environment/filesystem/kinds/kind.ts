import type { Expert } from '../../../agent/types.ts'
import type { PhraseKind } from '../prompt-templates.ts'
import type { Scene } from '../initial-state.ts'
import type { FileTree, WantedAnswer } from '../task.ts'

/** What a family makes of a scene: names for the holes of the wording, the wanted end, and how to get there. */
export interface Draft {
  holes: Record<string, string>
  /** Changes to the sandbox; `null` takes a file away. */
  changes?: { files?: Record<string, string | null>; folders?: readonly string[] }
  answer?: WantedAnswer
  plan: Expert
  /** 1 = easiest: the number of calls, and one more for a branch. */
  difficulty: number
  context?: Record<string, unknown>
}

export interface TaskKind {
  name: PhraseKind
  /** Files in the first folders of the scene, where the family cares. */
  counts?: (random: Scene['random']) => number[]
  draft(scene: Scene): Draft
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
