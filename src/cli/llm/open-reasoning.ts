import type { TaskSource } from '../../llm/agent/types.ts'
import { heldOutTasks } from '../../llm/rollout/held-out.ts'
import { smallModelPlan } from '../../llm/training/defaults.ts'
import type { TrainingPlan } from '../../llm/training/types.ts'
import { createReasoningTasks } from '../../llm/environment/reasoning/tasks.ts'
import { createReasoningEnvironment } from '../../llm/environment/reasoning/environment.ts'
import { reasoningReward } from '../../llm/environment/reasoning/reward.ts'
import type { ReasoningTask } from '../../llm/environment/reasoning/tasks.ts'
import type { OpenedNamed, EnvironmentOptions } from './open-environment.ts'

/** Demonstrations in all, and of each family at least. */
const demonstrations = { all: 4800, each: 100 }
/** A reply is never given more tokens than this. */
const mostReplyTokens = 240
/** Replies of the oracle that are measured. */
const measured = 200

/** Opens the environment of reasoning tasks: those of `--task`, at the levels of `--difficulty`. */
export function openReasoning({ task, difficulty }: EnvironmentOptions): OpenedNamed {
  const tasks = createReasoningTasks({
    ...(task === undefined ? {} : { kinds: [...new Set(task)] }),
    ...(difficulty === undefined ? {} : { difficulty }),
  })
  return {
    environment: createReasoningEnvironment(),
    tasks,
    plan: reasoningPlan(tasks),
    reward: reasoningReward(),
    heldOut: (split, count) => heldOutTasks(tasks, split, count),
  }
}

/** Questions of one turn, new to the base model: a longer warm start, and room for the oracle's longest reply. */
function reasoningPlan(tasks: TaskSource<ReasoningTask>): TrainingPlan {
  const { kinds } = tasks
  const each = Math.max(demonstrations.each, Math.ceil(demonstrations.all / kinds.length))
  // Characters bound the tokens of a byte-level vocabulary.
  const longest = Math.max(
    ...Array.from(
      { length: measured },
      (_, seed) => tasks.task({ split: 'train', seed }).problem.solve().text.length,
    ),
  )
  const reply = Math.min(mostReplyTokens, longest + 8)
  return {
    ...smallModelPlan,
    warmStart: { ...smallModelPlan.warmStart, epochs: 3, validateEvery: 80 },
    // Few groups have both right and wrong answers: at the rate of other environments these few move the model too far.
    reinforcement: { ...smallModelPlan.reinforcement, learningRate: 1e-4, steps: 400 },
    demonstrations: Object.fromEntries(kinds.map((kind) => [kind, each])),
    maxTokensPerTurn: reply,
    limits: {
      ...smallModelPlan.limits,
      turns: 1,
      tokensPerTurn: reply,
      totalTokens: 256 + mostReplyTokens,
      // Nothing here can hang: an episode waits for this machine alone, which may be busy.
      deadlineSeconds: 1800,
    },
  }
}
