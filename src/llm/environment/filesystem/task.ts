import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Outcome, Task } from '../../agent/types.ts'
import type { Scored } from '../../episode/score.ts'
import { answers, type WantedAnswer } from '../definition/answer.ts'

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

/** Lays a tree out below `root`, which must exist. */
export function plantTree(root: string, tree: FileTree): void {
  for (const folder of tree.folders) mkdirSync(join(root, folder), { recursive: true })
  for (const [path, content] of Object.entries(tree.files)) writeFileSync(join(root, path), content)
}

/** What is below `root` now. A thing that is neither folder nor file stands as a file with an impossible text. */
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

/** The first difference between two trees in words, or nothing. A line break at the end of a text does not count. */
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
 * Success needs both: a sandbox that ends exactly as wanted (every folder, every file, every text), and the wanted
 * answer. How the agent got there does not count.
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
