import { defined } from '../../../defined.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { AgogeError } from '../../../error.ts'
import type { Task, TaskSource, ToolEnvironment } from '../../agent/types.ts'
import type { Scored } from '../../episode/score.ts'
import type { Episode } from '../../episode/types.ts'
import type { EnvironmentChoices, OpenedEnvironment } from '../catalogue.ts'
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
 * also share no prompt template. `unseen-paraphrase` has test instances in templates with other words.
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

/**
 * Makes the reward of a reasoning episode: 1 for a right answer, `partial * score` for a partly right one, where the
 * verifier gives the score. Keep `partial` small: partial credit rewards failures, and too much of it teaches only the
 * easy half of a task.
 *
 * @param partial from 0 (success alone) to 1. Default: 0.2.
 */
export function reasoningReward({ partial = 0.2 }: { partial?: number } = {}): (
  episode: Episode,
) => Scored<'success' | 'partial'> | null {
  return (episode) => {
    if (episode.success === null) return null
    const score = episode.rewards.find(({ name }) => name === 'part:score')?.value ?? 0
    const parts = {
      success: episode.success ? 1 : 0,
      partial: episode.success ? 0 : partial * score,
    }
    return { value: parts.success + parts.partial, parts }
  }
}

/**
 * An environment without tools: the agent replies to a question and a program checks the reply. `part:score` of an
 * episode is its partial credit.
 */
export function createReasoningEnvironment(): ToolEnvironment<ReasoningTask> {
  return {
    name: 'reasoning',
    tools: [],
    open: ({ problem }) =>
      Promise.resolve({
        specs: [],
        call: (name) => Promise.resolve({ text: `error: there is no tool ${name}`, isError: true }),
        judge: ({ answer }) => Promise.resolve(judge(answer === null ? 0 : problem.verify(answer))),
        close: () => Promise.resolve(),
      }),
    close: () => Promise.resolve(),
  }
}

const judge = (score: number): Scored<'score'> => ({
  value: score,
  parts: { score },
  ...(score === 1 ? {} : { reason: score === 0 ? 'the answer is wrong' : 'the answer is right in part' }),
})

/** Demonstrations in total, and the minimum for each kind. */
const demonstrations = { all: 4800, each: 100 }
/** Upper limit of a reply's tokens. */
const mostReplyTokens = 240
/** Number of oracle replies that are measured. */
const measured = 200

/**
 * Opens the questions of these kinds (default: all) at these levels (default: all). Its training plan is for single
 * turns, which are new to the base model, so the warm start is longer.
 */
export function openReasoning({ task, difficulty }: EnvironmentChoices): OpenedEnvironment {
  const tasks = createReasoningTasks({
    ...(task === undefined ? {} : { kinds: [...new Set(task)] }),
    ...defined({ difficulty }),
  })
  const { kinds } = tasks
  const each = Math.max(demonstrations.each, Math.ceil(demonstrations.all / kinds.length))
  const reply = Math.min(mostReplyTokens, longestReply(tasks) + 8)
  return {
    environment: createReasoningEnvironment(),
    tasks,
    reward: reasoningReward(),
    demonstrations: Object.fromEntries(kinds.map((kind) => [kind, each])),
    limits: {
      turns: 1,
      tokensPerTurn: reply,
      totalTokens: 256 + mostReplyTokens,
      // Episodes use no server that could hang, but this machine may be busy.
      deadlineSeconds: 1800,
    },
    training: {
      warmStart: { epochs: 3, validateEvery: 80 },
      // Few groups have both right and wrong answers. At the learning rate of other environments these few change the
      // model too much.
      reinforcement: { learningRate: 1e-4, steps: 400 },
      maxTokensPerTurn: reply,
    },
  }
}

/** Characters of the oracle's longest reply. They bound its tokens in a byte-level vocabulary. */
function longestReply(tasks: TaskSource<ReasoningTask>): number {
  const lengths = Array.from(
    { length: measured },
    (_, seed) => tasks.task({ split: 'train', seed }).problem.solve().text.length,
  )
  return Math.max(...lengths)
}
