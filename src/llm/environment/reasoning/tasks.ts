import type { Task, TaskSource } from '../../agent/types.ts'
import { AgogeError } from '../../../error.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { createTaskSource } from '../definition/task-source.ts'
import type { Draw, TaskDraft } from '../definition/task-source.ts'
import type { Difficulty, Problem, ReasoningKind } from './kind.ts'
import { reasoningKinds } from './kinds/index.ts'

/** A question that a program checks. Its answer takes one turn and no tool. */
export interface ReasoningTask extends Task {
  problem: Problem
}

export interface ReasoningTasksOptions {
  /** Names of kinds, from `reasoningKinds`. Default: all. */
  kinds?: readonly string[]
  /**
   * Levels to draw from, each equally likely; from 1 on. Default: all three of each kind. Alternatively a difficulty of
   * your own, if all kinds have its controls.
   */
  difficulty?: readonly number[] | Difficulty
}

/**
 * Makes a source of questions. The same (split, seed, kind) gives the same question. Without `kind`, seed s gives kind
 * `s % kinds`.
 *
 * Splits share no question, because the hash of an instance's content decides its split. Train, validation and test
 * also share no prompt template. `unseen-wording` has test instances in templates with other words.
 *
 * @throws AgogeError for an unknown kind or difficulty.
 * @example
 * const tasks = createReasoningTasks({ kinds: ['countdown'], difficulty: [1, 2] })
 * const task = tasks.task({ split: 'train', seed: 7 })
 */
export function createReasoningTasks(options: ReasoningTasksOptions = {}): TaskSource<ReasoningTask> {
  const { kinds: names, difficulty = [1, 2, 3] } = options
  const kinds = names === undefined ? reasoningKinds : names.map(findKind)
  if (kinds.length === 0 || (isLevels(difficulty) && difficulty.length === 0)) {
    throw new AgogeError('There is no kind of question to draw from', {
      code: 'bad-argument',
      given: '[]',
      expected: 'at least one kind and one level',
    })
  }
  // Report mistakes now, not in the middle of a run.
  for (const kind of kinds) {
    for (const wanted of isLevels(difficulty) ? difficulty : [difficulty])
      kind.generate(createRandom('check'), wanted)
  }

  return createTaskSource<undefined, Question, Pick<ReasoningTask, 'problem'>>({
    name: 'reasoning',
    // The hash of a question's key decides its split.
    splits: 'own',
    state: () => undefined,
    kinds: Object.fromEntries(kinds.map((kind) => [kind.name, { draft: (_, draw) => draftOf(kind, draw) }])),
    extra: (_, { problem }) => ({ problem }),
  })

  function draftOf(kind: ReasoningKind, { random, split }: Draw): Question {
    const chosen = isLevels(difficulty) ? random.pick(difficulty) : difficulty
    const problem = kind.generate(random.split('problem'), chosen, split)
    return {
      prompt: problem.question,
      plan: () => ({ answer: problem.solve().text }),
      difficulty: typeof chosen === 'number' ? chosen : 1,
      context: { ...problem.difficulty },
      problem,
    }
  }
}

interface Question extends TaskDraft {
  problem: Problem
}

/**
 * Returns the kind with this name.
 *
 * @throws AgogeError with the list of all names.
 */
export const findKind = (name: string): ReasoningKind => findIn(reasoningKinds, name)

const isLevels = (difficulty: readonly number[] | Difficulty): difficulty is readonly number[] =>
  Array.isArray(difficulty)

function findIn(kinds: readonly ReasoningKind[], name: string): ReasoningKind {
  const kind = kinds.find((one) => one.name === name)
  if (kind !== undefined) return kind
  throw new AgogeError(`There is no kind of question "${name}".`, {
    code: 'unknown-kind',
    given: name,
    expected: `one of ${kinds.map((one) => one.name).join(', ')}`,
  })
}
