import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Outcome, Task } from '../../agent/types.ts'
import type { Scored } from '../../episode/score.ts'
import { answers, type WantedAnswer } from '../definition/answer.ts'

/** A small tree: every folder except the root, and every file with its text, by absolute path (`/notes/a.txt`). */
export interface FileTree {
  folders: readonly string[]
  files: Readonly<Record<string, string>>
}

/** A request with the initial sandbox and the goal. */
export interface FilesystemTask extends Task {
  start: FileTree
  goal: FileTree
  answer: WantedAnswer
}

/** Writes a tree below `root`, which must exist. */
export function plantTree(root: string, tree: FileTree): void {
  for (const folder of tree.folders) mkdirSync(join(root, folder), { recursive: true })
  for (const [path, content] of Object.entries(tree.files)) writeFileSync(join(root, path), content)
}

/** Reads the tree below `root`. Anything that is neither folder nor file becomes a file with an impossible text. */
export function readTree(root: string): FileTree {
  const folders: string[] = []
  const files: Record<string, string> = {}
  const visit = (path: string): void => {
    for (const entry of readdirSync(join(root, path), { withFileTypes: true })) {
      const inside = `${path}/${entry.name}`
      if (entry.isDirectory()) {
        folders.push(inside)
        visit(inside)
      } else {
        files[inside] = entry.isFile() ? readFileSync(join(root, inside), 'utf8') : '\0 not a file'
      }
    }
  }
  visit('')
  return { folders, files }
}

/**
 * Describes the first difference between two trees; undefined if there is none. A line break at the end of a text is
 * ignored.
 */
function treeDifference(found: FileTree, wanted: FileTree): string | undefined {
  const folders = new Set(found.folders)
  for (const folder of wanted.folders) if (!folders.delete(folder)) return `the folder ${folder} is missing`
  for (const folder of folders) return `the folder ${folder} should not be there`
  for (const [path, content] of Object.entries(wanted.files)) {
    const text = found.files[path]
    if (text === undefined) return `the file ${path} is missing`
    if (text.replace(/\r?\n$/, '') !== content.replace(/\r?\n$/, ''))
      return `the file ${path} has another text`
  }
  for (const path of Object.keys(found.files)) {
    if (!(path in wanted.files)) return `the file ${path} should not be there`
  }
  return undefined
}

/**
 * Judges an episode. It succeeds if the final sandbox equals the goal (every folder, file and text) and the answer is
 * the required one. The calls on the way do not matter.
 */
export function judgeOutcome(
  task: FilesystemTask,
  found: FileTree,
  outcome: Outcome,
): Scored<'state' | 'answer'> {
  const difference = treeDifference(found, task.goal)
  const answered = answers(task.answer, outcome.answer)
  const success = difference === undefined && answered
  return {
    value: Number(success),
    parts: { state: difference === undefined ? 1 : 0, answer: answered ? 1 : 0 },
    ...(success ? {} : { reason: difference ?? 'the answer is not the wanted one' }),
  }
}
