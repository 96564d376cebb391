import type { TaskSource } from '../../agent/types.ts'
import { AgogeError } from '../../error.ts'
import { createRandom } from '../../random/index.ts'
import { createPhraseGrammar, fillPhrase } from '../phrase-grammar.ts'
import type { PhraseGrammar } from '../phrase-grammar.ts'
import { wordLists } from '../words.ts'
import { ifContent, ifExists } from './families/deciding.ts'
import { applyChanges } from './families/family.ts'
import type { Family } from './families/family.ts'
import { count, find, findAndRead, read } from './families/looking.ts'
import { findAndMove, gather, move, rename } from './families/moving.ts'
import { copy, edit, folderThenWrite, makeNewFolder, write } from './families/writing.ts'
import { phrasings } from './phrasings.ts'
import { toolsOf } from './plan-steps.ts'
import type { PhraseKind } from './phrasings.ts'
import { createScene } from './scene.ts'
import type { FilesystemTask } from './task.ts'
import { unseenPhrasings } from './unseen-phrasings.ts'

const families: readonly Family[] = [
  read,
  write,
  edit,
  makeNewFolder,
  move,
  rename,
  count,
  find,
  findAndRead,
  copy,
  folderThenWrite,
  findAndMove,
  gather,
  ifContent,
  ifExists,
]

/** The wordings of each family, divided among train, validation and test. */
export const filesystemGrammars = Object.fromEntries(
  Object.entries(phrasings).map(([kind, patterns]) => [kind, createPhraseGrammar(kind, patterns)]),
) as Record<PhraseKind, PhraseGrammar>

/**
 * Tasks for an agent that looks after files through the filesystem MCP server: fifteen families of one to four
 * calls. The same (split, seed, family) gives the same task; without `family`, seed s is of family s modulo fifteen,
 * so consecutive seeds cover all alike. Train, validation and test share no word in names and contents (but for the states of `if-content`) and no
 * wording; `unseen-wording` has the words of test and wordings from outside the grammar.
 *
 * @example
 * const task = filesystemTasks.task({ split: 'train', seed: 7, family: 'copy' })
 */
export const filesystemTasks: TaskSource<FilesystemTask> = {
  families: families.map(({ name }) => name),
  task({ split, seed, family: wanted }) {
    const family =
      wanted === undefined
        ? families[((seed % families.length) + families.length) % families.length]
        : families.find(({ name }) => name === wanted)
    if (family === undefined) {
      throw new AgogeError(`The filesystem world has no family "${wanted}".`, {
        code: 'unknown-family',
        given: wanted,
        expected: `one of ${filesystemTasks.families.join(', ')}`,
      })
    }
    const random = createRandom(seed, 'filesystem', split, family.name)
    const words = wordLists(split === 'unseen-wording' ? 'test' : split)
    const scene = createScene(random.split('scene'), words, family.counts?.(random))
    const draft = family.draft(scene)
    const wording =
      split === 'unseen-wording'
        ? random.pick(unseenPhrasings[family.name])
        : filesystemGrammars[family.name].draw(split, random).text
    const start = { folders: scene.folders, files: scene.files }
    return {
      id: `filesystem/${split}/${family.name}/${seed}`,
      family: family.name,
      seed,
      split,
      prompt: fillPhrase(wording, draft.holes),
      difficulty: draft.difficulty,
      context: {
        files: Object.keys(scene.files).length,
        folders: scene.folders.length,
        tools: toolsOf(draft.plan),
        ...draft.context,
      },
      plan: draft.plan,
      start,
      goal: applyChanges(start, draft.changes),
      answer: draft.answer ?? { kind: 'any' },
    }
  },
}
