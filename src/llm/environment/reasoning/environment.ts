import { defined } from '../../../defined.ts'
import type { TaskSource, ToolEnvironment } from '../../agent/types.ts'
import type { Scored } from '../../episode/score.ts'
import type { Episode } from '../../episode/types.ts'
import type { EnvironmentChoices, OpenedEnvironment } from '../catalogue.ts'
import { createReasoningTasks, type ReasoningTask } from './tasks.ts'

/**
 * 1 for a right answer, `partial` times the verifier's score for one that is right in part. Keep it small: what is paid
 * for parts is paid for failures, and enough of it teaches the half that is easy.
 * `partial` is from 0 (success alone) to 1; default 0.2.
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

/** A question is asked, a reply is checked by program: an environment without tools. `part:score` of an episode is the partial credit. */
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

/** Demonstrations in all, and of each kind at least. */
const demonstrations = { all: 4800, each: 100 }
/** A reply is never given more tokens than this. */
const mostReplyTokens = 240
/** Replies of the oracle that are measured. */
const measured = 200

/** The questions of these kinds (default: all) at these levels (default: all), with a training for single turns: new to the base model, so a longer warm start. */
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
      // Nothing here can hang: an episode waits for this machine alone, which may be busy.
      deadlineSeconds: 1800,
    },
    training: {
      warmStart: { epochs: 3, validateEvery: 80 },
      // Few groups have both right and wrong answers: at the rate of other environments these few move the model too far.
      reinforcement: { learningRate: 1e-4, steps: 400 },
      maxTokensPerTurn: reply,
    },
  }
}

/** Characters of the oracle's longest reply: they bound the tokens of a byte-level vocabulary. */
function longestReply(tasks: TaskSource<ReasoningTask>): number {
  const lengths = Array.from(
    { length: measured },
    (_, seed) => tasks.task({ split: 'train', seed }).problem.solve().text.length,
  )
  return Math.max(...lengths)
}
