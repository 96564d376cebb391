import { expect, test } from 'vitest'
import { templateWords } from '../definition/prompt-templates.ts'
import { splitOfWord, wordLists } from '../definition/words.ts'
import { states } from './deciding-kinds.ts'
import { branchVerbs, type FilesystemKind } from './prompt-templates.ts'
import { unseenWords } from './paraphrases.ts'
import type { FilesystemTask } from './task.ts'
import { filesystemTasks } from './tasks.ts'

const splits = ['train', 'validation', 'test', 'unseen-paraphrase'] as const
const kinds = Object.keys(filesystemTasks.templates) as FilesystemKind[]

function many(split: (typeof splits)[number], each = 40): FilesystemTask[] {
  return Array.from({ length: each * filesystemTasks.kinds.length }, (_, seed) =>
    filesystemTasks.task({ split, seed }),
  )
}

const stateWords: ReadonlySet<string> = new Set(states.flat())
const wordsIn = (text: string): string[] => text.match(/[a-z]{2,}/g) ?? []
const endings = new Set(['txt', 'md', 'log'])

test('a task is determined by split, seed and kind', () => {
  for (const split of splits) {
    for (let seed = 0; seed < 30; seed++) {
      const { plan: _, ...task } = filesystemTasks.task({ split, seed })
      const { plan: __, ...again } = filesystemTasks.task({ split, seed, kind: task.kind })
      expect(again).toEqual(task)
    }
  }
  expect(filesystemTasks.task({ split: 'train', seed: 0 }).prompt).not.toBe(
    filesystemTasks.task({ split: 'train', seed: 15 }).prompt,
  )
  expect(() => filesystemTasks.task({ split: 'train', seed: 0, kind: 'sing' })).toThrow(
    'no kind of task "sing"',
  )
})

test('every kind has many prompt templates, and consecutive seeds cover all kinds alike', () => {
  expect(filesystemTasks.kinds.length).toBeGreaterThanOrEqual(11)
  expect([...filesystemTasks.kinds].toSorted()).toEqual(kinds.toSorted())
  for (const kind of kinds) {
    expect(filesystemTasks.templates[kind].of('train').length, kind).toBeGreaterThan(25)
    for (const split of ['validation', 'test'] as const) {
      expect(filesystemTasks.templates[kind].of(split).length, `${kind} ${split}`).toBeGreaterThanOrEqual(5)
    }
  }
  const drawn = new Set(many('train', 2).map(({ kind: taskKind }) => taskKind))
  expect(drawn.size).toBe(filesystemTasks.kinds.length)
})

test('train, validation and test share no word of a name, a folder or a text', () => {
  for (const split of splits) {
    const used = new Set<string>()
    for (const task of many(split)) {
      for (const tree of [task.start, task.goal]) {
        const texts = [...tree.folders, ...Object.keys(tree.files), ...Object.values(tree.files)]
        for (const word of texts.flatMap(wordsIn))
          if (!endings.has(word) && !stateWords.has(word)) used.add(word)
      }
    }
    const home = split === 'unseen-paraphrase' ? 'test' : split
    expect(used.size).toBeGreaterThan(50)
    expect([...used].filter((word) => splitOfWord(word) !== home)).toEqual([])
  }
})

test('the names in a prompt are of its split too', () => {
  const names = new Set(Object.values(wordLists('train')).flat())
  const verbs = new Set(Object.values(branchVerbs).flat().flatMap(wordsIn))
  const templates = new Map(
    kinds.map((kind) => [
      kind as string,
      new Set(filesystemTasks.templates[kind].all.flatMap(({ text }) => wordsIn(text))),
    ]),
  )
  for (const task of many('test')) {
    const given = wordsIn(task.prompt).filter(
      (word) => !templates.get(task.kind)?.has(word) && !verbs.has(word),
    )
    expect(given.filter((word) => names.has(word))).toEqual([])
  }
})

test('the words of requests are never names', () => {
  const phrases = [
    ...kinds.flatMap((kind) => filesystemTasks.templates[kind].all.map(({ text }) => text)),
    ...Object.values(branchVerbs).flat(),
  ]
  const used = new Set(phrases.flatMap((text) => templateWords(text)).map((word) => word.toLowerCase()))
  for (const split of ['train', 'validation', 'test'] as const) {
    for (const word of Object.values(wordLists(split)).flat()) expect(used).not.toContain(word)
  }
})

test('no prompt template is in two splits, and every word of a held-out one occurs in training ones of its kind', () => {
  for (const kind of kinds) {
    const grammar = filesystemTasks.templates[kind]
    const train = new Set(grammar.of('train').map(({ text }) => text))
    const known = new Set([...train].flatMap(templateWords))
    const seen = new Set<string>(train)
    for (const split of ['validation', 'test'] as const) {
      for (const { text } of grammar.of(split)) {
        expect(seen, text).not.toContain(text)
        for (const word of templateWords(text)) expect(known, `${kind}: ${text}`).toContain(word)
      }
      for (const { text } of grammar.of(split)) seen.add(text)
    }
  }
})

test('unseen paraphrases have words that no training template of the kind has', () => {
  for (const kind of kinds) {
    const known = new Set(
      filesystemTasks.templates[kind].all
        .flatMap(({ text }) => templateWords(text))
        .map((word) => word.toLowerCase()),
    )
    expect(unseenWords[kind].length).toBeGreaterThanOrEqual(4)
    for (const text of unseenWords[kind]) {
      const fresh = templateWords(text).filter((word) => !known.has(word.toLowerCase()))
      expect(fresh.length, `${kind}: ${text}`).toBeGreaterThan(0)
    }
  }
})

test('sandboxes are small, and every path a prompt names is exact', () => {
  for (const task of [...many('train'), ...many('test')]) {
    const files = Object.keys(task.start.files)
    expect(files.length, task.id).toBeGreaterThanOrEqual(3)
    expect(files.length, task.id).toBeLessThanOrEqual(7)
    expect(task.start.folders.length).toBeGreaterThanOrEqual(2)
    expect(task.start.folders.length).toBeLessThanOrEqual(5)
    expect(new Set(task.start.folders).size).toBe(task.start.folders.length)
    for (const folder of task.start.folders) {
      const parent = folder.slice(0, folder.lastIndexOf('/'))
      if (parent !== '') expect(task.start.folders).toContain(parent)
    }
    expect(task.prompt.length).toBeLessThan(230)
    expect(task.prompt.replaceAll(' ->', '')).not.toMatch(/[<>[\]|]|undefined| {2}|\.(?:txt|md|log)\./)
    expect(task.difficulty).toBeGreaterThanOrEqual(1)
    expect(task.difficulty).toBeLessThanOrEqual(4)
  }
})

test('both branches of a condition are required about equally often', () => {
  for (const [taskKind, key] of [
    ['if-content', 'holds'],
    ['if-exists', 'exists'],
  ] as const) {
    const truths = Array.from({ length: 200 }, (_, seed) =>
      filesystemTasks.task({ split: 'train', seed, kind: taskKind }),
    ).filter(({ context }) => context[key] === true).length
    expect(truths).toBeGreaterThan(70)
    expect(truths).toBeLessThan(130)
  }
})
