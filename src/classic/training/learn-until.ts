import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { yieldToEventLoop } from '../../event-loop.ts'
import type { ClassicAgent } from '../algorithm/agent.ts'
import type { AnyVector } from '../environment/index.ts'
import { checkActions, checkStep } from './check-step.ts'

/** Milliseconds between yields to the event loop. */
export const patience = 50

/**
 * Adds environment and step to an error about numbers; returns other errors unchanged.
 *
 * @param step the step of the environment that was begun last.
 */
export function reportStep(error: unknown, environment: string, step: number): unknown {
  if (!AgogeError.isInstance(error) || error.code !== 'not-finite') return error
  const given = typeof error.given === 'object' && error.given !== null ? error.given : { value: error.given }
  if ('step' in given) return error
  const { message, code, expected, hint } = error
  return new AgogeError(`${environment}, step ${step}: ${message}`, {
    code,
    given: { environment, step, ...given },
    ...defined({ expected, hint }),
    cause: error,
  })
}

/** Options of `learnUntil`. */
export interface LearnUntilOptions {
  /** Environment steps in total over all environments, rounded up to whole steps of all of them. */
  steps: number
  /** Environment steps between two calls of `until`. Default: a hundredth of `steps`. */
  every?: number
  /** Returns true to stop, given the environment steps so far. */
  until?: (step: number) => boolean | Promise<boolean>
  signal?: AbortSignal
}

/**
 * Trains an agent on your own environment (wrapped, or with its own initial states), until `until` returns true or
 * the steps are used up. It does nothing else: for evaluations, checkpoints and a report use `trainClassic`.
 *
 * Takes a vector of environments (`createVectorEnvironment`) or of objects (`vectorFrom`, `asyncVectorFrom`).
 * Reset it before the first call; later calls continue from its state. Awaits steps that return promises.
 *
 * @returns environment steps until `until` returned true; Infinity if it never did
 * @throws AgogeError naming environment, step and field, for numbers that are not finite and actions outside the
 * space
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
      // Lets signals through, even if the agent never waits.
      await yieldToEventLoop()
    }
  } catch (error) {
    throw reportStep(error, environment.definition.name, step)
  }
  return Infinity
}
