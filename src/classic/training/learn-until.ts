import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import type { ClassicAgent } from '../algorithm/agent.ts'
import type { AnyVector } from '../environment/index.ts'
import { checkActions, checkStep } from './check-step.ts'

/** Milliseconds for which nothing else is heard. */
export const patience = 50

/**
 * Lets whatever waits (messages, timers, signals) have its turn, in Node and in browsers. Browsers hold a timer that
 * follows a timer back for 4 ms; a message comes at once.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') {
      setImmediate(resolve)
      return
    }
    const { port1, port2 } = new MessageChannel()
    port1.addEventListener('message', () => {
      port1.close()
      resolve()
    })
    port1.start()
    port2.postMessage(null)
  })
}

/**
 * An error about numbers, thrown by who knew neither environment nor step, with both; other errors as they are.
 *
 * @param step of the environment that was last begun.
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

export interface LearnUntilOptions {
  /** Environment steps over all environments of the vector, rounded up to whole steps of all of them. */
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
