import type { TaskSource } from '../agent/index.ts'
import { heldOutTasks } from '../rollout/index.ts'
import { smallModelPlan } from '../training/defaults.ts'
import type { TrainingPlan } from '../training/index.ts'
import { createReasoningTasks, createReasoningWorld, reasoningReward } from '../worlds/reasoning/index.ts'
import type { ReasoningTask } from '../worlds/reasoning/index.ts'
import type { OpenedWorld, WorldOptions } from './open-world.ts'

/** Demonstrations in all, and of each family at least. */
const demonstrations = { all: 4800, each: 100 }
/** A reply is never given more tokens than this. */
const mostReplyTokens = 240
/** Replies of the oracle that are measured. */
const measured = 200

/** Opens the world of reasoning tasks: those of `--task`, at the levels of `--difficulty`. */
export function openReasoning({ task, difficulty }: WorldOptions): OpenedWorld {
  const tasks = createReasoningTasks({
    ...(task === undefined ? {} : { families: [...new Set(task)] }),
    ...(difficulty === undefined ? {} : { difficulty }),
  })
  return {
    world: createReasoningWorld(),
    tasks,
    plan: reasoningPlan(tasks),
    reward: reasoningReward(),
    heldOut: (split, count) => heldOutTasks(tasks, split, count),
  }
}

/** Questions of one turn, new to the base model: a longer warm start, and room for the oracle's longest reply. */
function reasoningPlan(tasks: TaskSource<ReasoningTask>): TrainingPlan {
  const { families } = tasks
  const each = Math.max(demonstrations.each, Math.ceil(demonstrations.all / families.length))
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
    // Few groups have both right and wrong answers: at the rate of other worlds these few move the model too far.
    reinforcement: { ...smallModelPlan.reinforcement, learningRate: 1e-4, steps: 400 },
    demonstrations: Object.fromEntries(families.map((family) => [family, each])),
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
