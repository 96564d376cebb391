import type { TaskSource } from '../../agent/types.ts'
import { AgogeError } from '../../../error.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { createPhraseGrammar, fillPhrase } from '../phrase-grammar.ts'
import type { PhraseGrammar } from '../phrase-grammar.ts'
import { wordLists } from '../words.ts'
import { ifContent, ifExists } from './kinds/deciding.ts'
import { applyChanges } from './kinds/kind.ts'
import type { TaskKind } from './kinds/kind.ts'
import { count, find, findAndRead, read } from './kinds/looking.ts'
import { findAndMove, gather, move, rename } from './kinds/moving.ts'
import { copy, edit, folderThenWrite, makeNewFolder, write } from './kinds/writing.ts'
import { phrasings } from './prompt-templates.ts'
import { toolsOf } from './plan-steps.ts'
import type { PhraseKind } from './prompt-templates.ts'
import { createScene } from './initial-state.ts'
import type { FilesystemTask } from './task.ts'
import { unseenPhrasings } from './unseen-prompt-templates.ts'

const taskKinds: readonly TaskKind[] = [
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
  kinds: taskKinds.map(({ name }) => name),
  task({ split, seed, kind: wanted }) {
    const taskKind =
      wanted === undefined
        ? taskKinds[((seed % taskKinds.length) + taskKinds.length) % taskKinds.length]
        : taskKinds.find(({ name }) => name === wanted)
    if (taskKind === undefined) {
      throw new AgogeError(`The filesystem environment has no family "${wanted}".`, {
        code: 'unknown-kind',
        given: wanted,
        expected: `one of ${filesystemTasks.kinds.join(', ')}`,
      })
    }
    const random = createRandom(seed, 'filesystem', split, taskKind.name)
    const words = wordLists(split === 'unseen-wording' ? 'test' : split)
    const scene = createScene(random.split('scene'), words, taskKind.counts?.(random))
    const draft = taskKind.draft(scene)
    const paraphrase =
      split === 'unseen-wording'
        ? random.pick(unseenPhrasings[taskKind.name])
        : filesystemGrammars[taskKind.name].draw(split, random).text
    const start = { folders: scene.folders, files: scene.files }
    return {
      id: `filesystem/${split}/${taskKind.name}/${seed}`,
      kind: taskKind.name,
      seed,
      split,
      prompt: fillPhrase(paraphrase, draft.holes),
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
