import type { Task, TaskSource } from '../../agent/types.ts'
import { AgogeError } from '../../error.ts'
import { createRandom } from '../../random/index.ts'
import type { ReasoningFamily } from './family.ts'
import { reasoningFamilies } from './families/index.ts'
import type { Difficulty, Problem } from './types.ts'

/** A question that a program checks; its answer takes one turn and no tool. */
export interface ReasoningTask extends Task {
  problem: Problem
}

export interface ReasoningTasksOptions {
  /** Names of families, from `reasoningFamilies`. Default: all. */
  families?: readonly string[]
  /**
   * Which levels are drawn, each alike; from 1 on. Default: all three of each family. Or a difficulty of one's own, where
   * all families have its controls.
   */
  difficulty?: readonly number[] | Difficulty
}

/**
 * Questions by seed. The same (split, seed, family) gives the same question; without `family`, seed s is of family s modulo
 * their number. No question is in two splits, whatever the seeds: an instance belongs to one by the hash of its content. Train,
 * validation and test share no wording either; `unseen-wording` has instances of test in wordings from outside the grammar.
 *
 * @throws AgogeError for a family or a difficulty that does not exist.
 * @example
 * const tasks = createReasoningTasks({ families: ['countdown'], difficulty: [1, 2] })
 * const task = tasks.task({ split: 'train', seed: 7 })
 */
export function createReasoningTasks(options: ReasoningTasksOptions = {}): TaskSource<ReasoningTask> {
  const { families: names, difficulty = [1, 2, 3] } = options
  const families = names === undefined ? reasoningFamilies : names.map(findFamily)
  if (families.length === 0 || (isLevels(difficulty) && difficulty.length === 0)) {
    throw new AgogeError('There is no kind of question to draw from', {
      code: 'bad-argument',
      given: '[]',
      expected: 'at least one family and one level',
    })
  }
  // A mistake shows here, not in the middle of a run.
  for (const family of families) {
    for (const wanted of isLevels(difficulty) ? difficulty : [difficulty])
      family.generate(createRandom('check'), wanted)
  }

  return {
    families: families.map(({ name }) => name),
    task({ split, seed, family: wanted }) {
      const at = ((seed % families.length) + families.length) % families.length
      const family = wanted === undefined ? families[at] : findIn(families, wanted)
      const random = createRandom(seed, 'reasoning', split, family.name)
      const chosen = isLevels(difficulty) ? random.pick(difficulty) : difficulty
      const problem = family.generate(random.split('problem'), chosen, split)
      return {
        id: `reasoning/${split}/${family.name}/${seed}`,
        family: family.name,
        seed,
        split,
        prompt: problem.question,
        difficulty: typeof chosen === 'number' ? chosen : 1,
        context: { ...problem.difficulty },
        plan: () => ({ answer: problem.solve().text }),
        problem,
      }
    },
  }
}

/** The family of this name. @throws AgogeError listing all names. */
export const findFamily = (name: string): ReasoningFamily => findIn(reasoningFamilies, name)

const isLevels = (difficulty: readonly number[] | Difficulty): difficulty is readonly number[] =>
  Array.isArray(difficulty)

function findIn(families: readonly ReasoningFamily[], name: string): ReasoningFamily {
  const family = families.find((one) => one.name === name)
  if (family !== undefined) return family
  throw new AgogeError(`There is no kind of question "${name}".`, {
    code: 'unknown-family',
    given: name,
    expected: `one of ${families.map((one) => one.name).join(', ')}`,
  })
}
