import type { ArrayAgent } from '../../algorithm/arrays/index.ts'
import type { VectorEnvironment } from '../../environment/index.ts'
import { checkActions, checkStep } from './check-step.ts'
import { turn } from './turn.ts'

export interface LearnUntilOptions {
  /** Environment steps over all slots, rounded up to whole steps of all slots. */
  steps: number
  /** Environment steps between two questions. Default: a hundredth of `steps`. */
  every?: number
  /** Whether that is enough, after so many environment steps. */
  until?: (step: number) => boolean | Promise<boolean>
  signal?: AbortSignal
}

/**
 * Act, step, learn, and nothing else: on an environment of one's own making (wrapped, or with starts of its own), until
 * `until` says so or the steps are used up. For runs with evaluations, checkpoints and a report there is `trainArray`.
 *
 * The environment has to be reset before the first call; later calls go on where it is.
 *
 * @returns environment steps taken until the question was answered with yes; Infinity where it never was
 * @throws AgogeError for numbers that are none
 */
export async function learnUntil(
  environment: VectorEnvironment,
  agent: Pick<ArrayAgent, 'act' | 'learn'>,
  { steps, every = Math.ceil(steps / 100), until = () => false, signal }: LearnUntilOptions,
): Promise<number> {
  const slots = environment.rewards.length
  for (let step = slots; step < steps + slots; step += slots) {
    const acting = agent.act()
    if (acting instanceof Promise) await acting
    checkActions(environment, step)
    environment.step()
    checkStep(environment, step)
    const learning = agent.learn()
    if (learning instanceof Promise) await learning
    const asks = Math.floor(step / every) > Math.floor((step - slots) / every) || step >= steps
    if (!asks) continue
    if (await until(step)) return step
    signal?.throwIfAborted()
    // So that signals are heard, also where the agent never waits.
    await turn()
  }
  return Infinity
}
