import type { Task } from '../../agent/types.ts'
import { createTaskSource } from '../definition/task-source.ts'
import { toolsOf } from '../definition/plan.ts'
import { createScene } from './initial-state.ts'
import type { Scene } from './initial-state.ts'
import { ifContent, ifExists } from './kinds/deciding.ts'
import { applyChanges } from './kinds/kind.ts'
import type { Draft, FilesystemTaskKind } from './kinds/kind.ts'
import { count, find, findAndRead, read } from './kinds/looking.ts'
import { findAndMove, gather, move, rename } from './kinds/moving.ts'
import { copy, edit, folderThenWrite, makeNewFolder, write } from './kinds/writing.ts'
import { promptTemplates } from './prompt-templates.ts'
import type { FilesystemTask } from './task.ts'
import { unseenPromptTemplates } from './unseen-prompt-templates.ts'

const taskKinds: readonly FilesystemTaskKind[] = [
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

/**
 * Tasks for an agent that looks after files through the filesystem MCP server: fifteen kinds of one to four
 * calls. Train, validation and test share no word in names and contents (except for the states of `if-content`) and no prompt
 * template; `unseen-wording` has the words of test, in templates from other words.
 *
 * @example
 * const task = filesystemTasks.task({ split: 'train', seed: 7, kind: 'copy' })
 */
export const filesystemTasks = createTaskSource<
  Scene,
  Draft,
  Omit<FilesystemTask, Exclude<keyof Task, 'context'>>
>({
  name: 'filesystem',
  splits: 'own',
  kinds: Object.fromEntries(
    taskKinds.map(({ name, draft }) => [
      name,
      { templates: promptTemplates[name], unseen: unseenPromptTemplates[name], draft },
    ]),
  ),
  state({ random, words, kind }) {
    const { counts } = taskKinds.find(({ name }) => name === kind) ?? {}
    // 'scene' keys the stream of earlier runs.
    return createScene(random.split('scene'), words, counts?.(random))
  },
  extra(scene, draft) {
    const start = { folders: scene.folders, files: scene.files }
    return {
      context: {
        files: Object.keys(scene.files).length,
        folders: scene.folders.length,
        tools: toolsOf(draft.plan),
        ...draft.context,
      },
      start,
      goal: applyChanges(start, draft.changes),
      answer: draft.answer ?? { kind: 'any' },
    }
  },
})
