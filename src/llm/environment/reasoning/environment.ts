import { defined } from '../../../defined.ts'
import type { TaskSource, ToolEnvironment } from '../../agent/types.ts'
import type { Scored } from '../../episode/score.ts'
import type { Episode } from '../../episode/types.ts'
import type { EnvironmentChoices, OpenedEnvironment } from '../catalogue.ts'
import { createReasoningTasks, type ReasoningTask } from './tasks.ts'

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
