import { createRandom } from '../../engine/random/random.ts'
import { defined } from '../../defined.ts'
import type { FileTask } from '../environment/mcp/goals/task-file.ts'
import type { AgentModel } from '../rollout/agents/rollout-agent.ts'
import type { TrialSettings } from '../project/run-trial.ts'
import { agentProgram, type ConfigTask, meanScore, toConfigTask } from '../project/training/agent-program.ts'
import { watchSignal } from '../project/training/signal-watch.ts'
import type { AgentSetup } from '../setup/setup.ts'
import { smallModelPlan } from '../training/defaults.ts'
import { trainAgent } from '../training/train-agent.ts'
import type { TrainableBackend } from '../training/types.ts'
import { TokenLimit } from './token-limit.ts'

/** What a training of a search works with. */
export interface Learning {
  model: AgentModel & { backend: TrainableBackend }
  settings: TrialSettings
  tasks: readonly FileTask[]
  name: string
  seed: number
  deadlineSeconds?: number
  maxTokens?: number
  /** Default: that of a small model. */
  learningRate?: number
  signal: AbortSignal
}

/** A training by reinforcement learning. */
export interface Reinforcing extends Learning {
  steps: number
  groups: number
  groupSize: number
  /** What a setup adds to the prompt, while the model learns as afterwards. */
  prompt: AgentSetup
}

/**
 * A short run of GRPO on the training tasks. It ends with its last weights: the selection tasks choose among
 * setups, not among steps. Returns what was done; undefined if all rollouts of the first steps had the same reward.
 *
 * Source: Shao et al., DeepSeekMath (GRPO, arXiv 2402.03300), in the library's variant `grpo-damped`.
 */
export async function reinforce({
  model,
  settings,
  tasks,
  name,
  seed,
  steps,
  groups,
  groupSize,
  prompt,
  signal,
  learningRate = smallModelPlan.reinforcement.learningRate,
  ...limits
}: Reinforcing): Promise<string | undefined> {
  const watch = watchSignal(signal)
  const { final, warmup, beta2, clip } = smallModelPlan.reinforcement
  const program = agentProgram(settings, () => model.backend.weightVersion, prompt)
  let made = 0
  try {
    await trainAgent<ConfigTask, Awaited<ReturnType<typeof program.run>>>({
      ...model,
      ...limits,
      program,
      tasks: (step) => createRandom(seed, name, step).shuffle(tasks).slice(0, groups).map(toConfigTask),
      groupSize,
      steps,
      learningRate,
      ...defined({ final, warmup, beta2, clip }),
      reward: meanScore,
      seed,
      signal: watch.signal,
      onStep(step) {
        made += 1
        watch.onStep(step)
      },
    })
  } catch (error) {
    if (watch.reason() !== undefined) return undefined
    if (!(signal.reason instanceof TokenLimit)) throw error
  }
  return `${made} steps of reinforcement learning`
}
