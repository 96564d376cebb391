import type { Task } from '../../agent/types.ts'
import { toolsOf } from '../definition/solution.ts'
import { createTaskSource } from '../definition/task-source.ts'
import { createInitialState } from './task.ts'
import type { FilesystemTask, InitialState } from './task.ts'
import { ifContent, ifExists } from './deciding-kinds.ts'
import {
  applyChanges,
  copy,
  count,
  edit,
  find,
  findAndMove,
  findAndRead,
  folderThenWrite,
  gather,
  makeNewFolder,
  move,
  read,
  rename,
  write,
} from './kinds.ts'
import type { Draft, FilesystemTaskKind } from './kinds.ts'
import { unseenTemplates, unseenWords } from './paraphrases.ts'
import { promptTemplates } from './prompt-templates.ts'
import { oneCallTemplates } from './training-templates/one-call.ts'
import { severalCallTemplates } from './training-templates/several-calls.ts'

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

const trainingTemplates = { ...oneCallTemplates, ...severalCallTemplates }

/**
 * Tasks for the filesystem MCP server: fifteen kinds of one to four calls. Splits share no word in names and contents
 * (except for the states of `if-content`) and no prompt template. `unseen-paraphrase` has the names of test, in requests
 * written by hand: half of them new templates in the usual words, half with words that occur nowhere else.
 *
 * @example
 * const task = filesystemTasks.task({ split: 'train', seed: 7, kind: 'copy' })
 */
export const filesystemTasks = createTaskSource<
  InitialState,
  Draft,
  Omit<FilesystemTask, Exclude<keyof Task, 'context'>>
>({
  name: 'filesystem',
  splits: 'own',
  kinds: Object.fromEntries(
    taskKinds.map(({ name, draft }) => [
      name,
      {
        templates: promptTemplates[name],
        trainingTemplates: trainingTemplates[name],
        unseen: { 'new sentences': unseenTemplates[name], 'new words': unseenWords[name] },
        draft,
      },
    ]),
  ),
  state({ random, words, kind }) {
    const { counts } = taskKinds.find(({ name }) => name === kind) ?? {}
    // 'scene' keys the random stream, so that tasks match those of earlier runs.
    return createInitialState(random.split('scene'), words, counts?.(random))
  },
  extra(initial, draft) {
    const start = { folders: initial.folders, files: initial.files }
    return {
      context: {
        files: Object.keys(initial.files).length,
        folders: initial.folders.length,
        tools: toolsOf(draft.plan),
        ...draft.context,
      },
      start,
      goal: applyChanges(start, draft.changes),
      answer: draft.answer ?? { kind: 'any' },
    }
  },
})

/**
 * Demonstrations of each kind in the warm start of the main job: enough of each to show that requests are worded in many
 * ways. Kinds with decisions and several moves get most, because an agent that never succeeds has nothing to learn from.
 *
 * @example
 * await train({ environment, tasks: filesystemTasks, demonstrations: filesystemDemonstrations })
 */
export const filesystemDemonstrations: Readonly<Record<string, number>> = {
  read: 60,
  write: 60,
  edit: 70,
  'make-folder': 60,
  move: 60,
  rename: 70,
  count: 60,
  find: 60,
  'find-and-read': 60,
  copy: 60,
  'folder-then-write': 60,
  'find-and-move': 60,
  gather: 220,
  'if-content': 220,
  'if-exists': 320,
}
