import type { ClassicAgent } from '../algorithm/agent.ts'
import type { AnyVector } from '../environment/index.ts'
import { checkActions, checkStep } from './check-step.ts'
import { reportStep } from './report-step.ts'
import { yieldToEventLoop } from './yield-to-event-loop.ts'

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
 * `until` says so or the steps are used up. For runs with evaluations, checkpoints and a report there is `trainClassic`.
 *
 * The environment, of environments (`createVectorEnvironment`) or of objects (`vectorFrom`, `asyncVectorFrom`), has to be reset
 * before the first call; later calls go on where it is. Steps that give promises are waited for.
 *
 * @returns environment steps taken until the question was answered with yes; Infinity where it never was
 * @throws AgogeError naming environment, step and field, for numbers that are none and actions that the environment does not have
 */
export async function learnUntil(
  environment: AnyVector,
  agent: Pick<ClassicAgent, 'act' | 'learn'>,
  { steps, every = Math.ceil(steps / 100), until = () => false, signal }: LearnUntilOptions,
): Promise<number> {
  const numEnvs = environment.rewards.length
  let step = numEnvs
  try {
    for (; step < steps + numEnvs; step += numEnvs) {
      const acting = agent.act()
      if (acting instanceof Promise) await acting
      checkActions(environment, step)
      const stepping = environment.step()
      if (stepping instanceof Promise) await stepping
      checkStep(environment, step)
      const learning = agent.learn()
      if (learning instanceof Promise) await learning
      const asks = Math.floor(step / every) > Math.floor((step - numEnvs) / every) || step >= steps
      if (!asks) continue
      if (await until(step)) return step
      signal?.throwIfAborted()
      // So that signals are heard, also where the agent never waits.
      await yieldToEventLoop()
    }
  } catch (error) {
    throw reportStep(error, environment.definition.name, step)
  }
  return Infinity
}
