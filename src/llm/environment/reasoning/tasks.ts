import type { Task, TaskSource } from '../../agent/types.ts'
import { AgogeError } from '../../../error.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { createTaskSource } from '../definition/task-source.ts'
import type { Draw, TaskDraft } from '../definition/task-source.ts'
import type { Difficulty, Problem, ReasoningKind } from './kind.ts'
import { reasoningKinds } from './kinds/index.ts'

/** A question that a program checks; its answer takes one turn and no tool. */
export interface ReasoningTask extends Task {
  problem: Problem
}

export interface ReasoningTasksOptions {
  /** Names of kinds, from `reasoningKinds`. Default: all. */
  kinds?: readonly string[]
  /**
   * Which levels are drawn, each alike; from 1 on. Default: all three of each kind. Or a difficulty of one's own, where
   * all kinds have its controls.
   */
  difficulty?: readonly number[] | Difficulty
}

/**
 * Questions by seed. The same (split, seed, kind) gives the same question; without `kind`, seed s is of kind s modulo
 * their number. No question is in two splits, whatever the seeds: an instance belongs to one by the hash of its content. Train,
 * validation and test share no prompt template either; `unseen-wording` has instances of test in templates from other words.
 *
 * @throws AgogeError for a kind or a difficulty that does not exist.
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
  // A mistake shows here, not in the middle of a run.
  for (const kind of kinds) {
    for (const wanted of isLevels(difficulty) ? difficulty : [difficulty])
      kind.generate(createRandom('check'), wanted)
  }

  return createTaskSource<undefined, Question, Pick<ReasoningTask, 'problem'>>({
    name: 'reasoning',
    // The hash of its key decides to which split a question belongs.
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

/** The kind of this name. @throws AgogeError listing all names. */
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
