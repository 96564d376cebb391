import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../../../engine/random/index.ts'
import type { Outcome, Task } from '../../agent/types.ts'
import type { Scored } from '../../episode/score.ts'
import { answers } from '../definition/solution.ts'
import type { WantedAnswer } from '../definition/solution.ts'
import type { WordLists } from '../definition/words.ts'

/** A sandbox under construction: folders and files with natural names, and unused names for what the task adds. */
export interface InitialState {
  readonly random: Random
  readonly folders: string[]
  readonly files: Record<string, string>
  /** One of the folders. */
  folder(...not: string[]): string
  /** One of the files. */
  file(...not: string[]): string
  /** A word that is not used yet. */
  word(kind: keyof WordLists): string
  /** The path of a folder that does not exist. In a third of the cases it is inside an existing folder. */
  newFolder(): string
  /** A file name (`budget-march.txt`) that no file has yet. */
  newName(): string
  /** A short text of two to four words. */
  text(): string
}

const endings = ['txt', 'txt', 'md', 'log']

export const joinPath = (folder: string, name: string): string =>
  folder === '/' ? `/${name}` : `${folder}/${name}`
export const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/'
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/**
 * Draws two to four folders, one of them inside another in a quarter of the sandboxes, and three to seven files of one
 * line.
 *
 * @param counts fixes the number of files in the first folders.
 */
export function createInitialState(
  random: Random,
  words: WordLists,
  counts: readonly number[] = [],
): InitialState {
  const decks = {
    groups: random.shuffle(words.groups),
    nouns: random.shuffle(words.nouns),
    adjectives: random.shuffle(words.adjectives),
    verbs: random.shuffle(words.verbs),
  }
  const drawn = { groups: 0, nouns: 0, adjectives: 0, verbs: 0 }
  const names = new Set<string>()
  const stems: string[] = []
  const folders: string[] = []
  const files: Record<string, string> = {}

  function word(kind: keyof WordLists): string {
    return decks[kind][drawn[kind]++ % decks[kind].length]
  }

  function newFolder(): string {
    const parent = folders.length > 0 && random.next() < 1 / 3 ? random.pick(folders) : '/'
    return joinPath(parent, word('groups'))
  }

  function newName(): string {
    for (;;) {
      const shape = random.next()
      const first = stems.length > 0 && random.next() < 0.2 ? random.pick(stems) : word('nouns')
      const stem =
        shape < 0.4 ? first : shape < 0.7 ? `${word('adjectives')}-${first}` : `${first}-${word('nouns')}`
      const name = `${stem}.${random.pick(endings)}`
      if (names.has(stem)) continue
      names.add(stem)
      stems.push(first)
      return name
    }
  }

  function text(): string {
    const shape = random.next()
    if (shape < 0.25) return `${word('verbs')} ${word('nouns')}`
    if (shape < 0.5) return `${word('adjectives')} ${word('nouns')}`
    if (shape < 0.85) return `${word('verbs')} ${word('adjectives')} ${word('nouns')}`
    return `${word('verbs')} ${word('adjectives')} ${word('nouns')} ${word('nouns')}`
  }

  const folderCount = Math.max(2 + random.int(3), counts.length)
  for (let i = 0; i < folderCount; i++) {
    const nested = i === folderCount - 1 && i >= 2 && random.next() < 0.4
    folders.push(joinPath(nested ? (random.pick(folders.slice(counts.length)) ?? '/') : '/', word('groups')))
  }
  counts.forEach((count, index) => {
    for (let i = 0; i < count; i++) files[joinPath(folders[index], newName())] = text()
  })
  const others = folders.slice(counts.length)
  const more = Math.max(0, 3 + random.int(4) - counts.reduce((sum, count) => sum + count, 0))
  if (others.length > 0)
    for (let i = 0; i < more; i++) files[joinPath(random.pick(others), newName())] = text()

  return {
    random,
    folders,
    files,
    folder: (...not) => random.pick(folders.filter((folder) => !not.includes(folder))),
    file: (...not) => random.pick(Object.keys(files).filter((file) => !not.includes(file))),
    word,
    newFolder,
    newName,
    text,
  }
}

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
