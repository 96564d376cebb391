import type { Random } from '../../../engine/random/index.ts'
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
