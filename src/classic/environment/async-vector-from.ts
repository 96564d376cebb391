import { hash32 } from '../../engine/random/index.ts'
import { AgogeError } from '../../error.ts'
import type {
  AsyncEnvironment,
  CallOptions,
  Environment,
  Info,
  ResetOptions,
  ResetResult,
} from './environment.ts'
import { createObjectEnvs, type ObjectVectorOptions } from './object-envs.ts'
import { notBegun, objectState, requireOneEach, restoreObjects, threw } from './vector-from.ts'
import type { VectorEnvironment } from './vector.ts'

/**
 * Runs a call with a deadline in `milliseconds` (Infinity: none) that `signal` can cancel. The call gets its
 * own signal, which aborts in both cases. The promise settles even if the call ignores the signal.
 *
 * @throws AgogeError `deadline` or `cancelled`. `what` names the call in the message.
 */
function withDeadline<T>(
  what: string,
  milliseconds: number,
  signal: AbortSignal | undefined,
  call: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  return new Promise<T>((resolve, reject) => {
    const stop = (error: AgogeError): void => {
      reject(error)
      controller.abort(error)
    }
    const cancel = (): void =>
      stop(new AgogeError(`${what} was cancelled`, { code: 'cancelled', cause: signal?.reason }))
    if (signal?.aborted === true) return cancel()
    const late = (): void =>
      stop(
        new AgogeError(`${what} took too long`, {
          code: 'deadline',
          given: `more than ${milliseconds} ms`,
          expected: `an answer within ${milliseconds} ms`,
        }),
      )
    const timer = Number.isFinite(milliseconds) ? setTimeout(late, milliseconds) : undefined
    signal?.addEventListener('abort', cancel, { once: true })
    Promise.resolve()
      .then(() => call(controller.signal))
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', cancel)
      })
  })
}

/** Options of `asyncVectorFrom`. */
export interface AsyncVectorOptions extends ObjectVectorOptions {
  /** Deadline in milliseconds of one step of one environment. Default: none. */
  stepDeadline?: number
  /** Deadline in milliseconds of one reset of one environment. Default: none. */
  resetDeadline?: number
  /** Cancels all running calls. */
  signal?: AbortSignal
  /**
   * What happens when a step throws or passes its deadline. `throw`: the step of the vector throws. `truncate`:
   * the episode of this environment is truncated with reward 0 and marked in `faulted`, because a fault of the
   * environment says nothing about the agent. Its object is closed and replaced by a new one. Default: `throw`.
   */
  onFault?: 'throw' | 'truncate'
}

/** The asynchronous form of `VectorEnvironment`: the same arrays, and all environments are stepped concurrently. */
export interface AsyncVectorEnvironment extends Omit<VectorEnvironment, 'reset' | 'step' | 'truncate'> {
  /** [numEnvs]: the infos that came with `observations` and `finalObservations`. */
  readonly infos: readonly (Info | undefined)[]
  readonly finalInfos: readonly (Info | undefined)[]
  /** [numEnvs]: 1 where a fault truncated the episode in the last step. Do not train on such an episode. */
  readonly faulted: Uint8Array
  reset(options?: { seed?: number; mask?: Uint8Array; signal?: AbortSignal }): Promise<void>
  step(options?: { signal?: AbortSignal }): Promise<void>
  truncate(envIndex: number): Promise<void>
  close(): Promise<void>
}

/** Attempts to begin an episode before `reset` throws, with `onFault: 'truncate'`. */
const attempts = 3

/**
 * Makes an asynchronous vector environment of `count` objects, synchronous or not. Every call gets `{ signal,
 * id }`. The id of a step is unique in the run; a repeated call has the same id.
 *
 * Make one call at a time. The rows of the arrays are written as answers arrive and are complete when the
 * promise resolves. If it rejects, reset the environments that failed.
 *
 * @throws AgogeError `busy` if another call is running; also what `vectorFrom` throws
 */
export async function asyncVectorFrom(
  makeEnv: (envIndex: number) => Environment | AsyncEnvironment | Promise<Environment | AsyncEnvironment>,
  count: number,
  options: AsyncVectorOptions = {},
): Promise<AsyncVectorEnvironment> {
  const { stepDeadline = Infinity, resetDeadline = Infinity, onFault = 'throw' } = options
  const environments = await Promise.all(
    Array.from({ length: count }, async (_, i) => (await makeEnv(i)) as AsyncEnvironment),
  )
  requireOneEach(environments)
  const envs = createObjectEnvs(environments[0], count, options)
  const { arrays, ended } = envs
  const { name } = arrays.definition
  const faulted = new Uint8Array(count)
  /** Number of objects that each environment has had. */
  const lives = faulted.map(() => 0)
  const begunEnvs = new Uint8Array(count)
  let busy = false
  let signal: AbortSignal | undefined

  async function begin(i: number): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const given = envs.resetOptions(i)
      try {
        const result = await withDeadline(
          `the reset of environment ${i} of ${name}`,
          resetDeadline,
          signal,
          (own) => reset(environments[i], given, { signal: own, id: `${i}/${envs.resets[i]}` }),
        )
        envs.began(i, environments[i], result)
        begunEnvs[i] = 1
        return
      } catch (error) {
        begunEnvs[i] = 0
        if (onFault === 'throw' || attempt === attempts || isCancelled(error))
          throw AgogeError.isInstance(error) ? error : threw(`${name}, environment ${i}: reset`, error)
        await replace(i)
        envs.episodes[i]--
      }
    }
  }

  async function replace(i: number): Promise<void> {
    // An object that hangs may hang in `close` too, so do not wait for it.
    void Promise.resolve(environments[i])
      .then((environment) => environment.close?.())
      .catch(() => undefined)
    environments[i] = (await makeEnv(i)) as AsyncEnvironment
    lives[i]++
    envs.seeds[i] = hash32('life', options.seed ?? 0, i, lives[i])
  }

  async function stepEnv(i: number): Promise<void> {
    if (begunEnvs[i] === 0) throw notBegun(`environment ${i} of ${name}`)
    if (ended[i] === 1) {
      if (arrays.autoreset === 'disabled') throw envs.notReset(i)
      envs.startCount(i)
      if (arrays.autoreset === 'next-step') return begin(i)
    }
    const id = `${i}/${envs.resets[i]}/${arrays.lengths[i] + 1}`
    let over: boolean
    try {
      const result = await withDeadline(
        `step ${arrays.lengths[i] + 1} of environment ${i} of ${name}`,
        stepDeadline,
        signal,
        (own) => environments[i].step(envs.action(i) as never, { signal: own, id }),
      )
      over = envs.stepped(i, environments[i], result)
    } catch (error) {
      if (onFault === 'throw' || isCancelled(error)) {
        begunEnvs[i] = 0
        throw AgogeError.isInstance(error)
          ? error
          : threw(`${name}, environment ${i}, step ${arrays.lengths[i] + 1}: step`, error)
      }
      arrays.rewards[i] = 0
      arrays.terminated[i] = 0
      arrays.truncated[i] = 1
      faulted[i] = 1
      envs.end(i)
      await replace(i)
      over = true
    }
    if (over && arrays.autoreset === 'same-step') await begin(i)
  }

  /** Runs one call of the vector. Waits for all environments, even if one of them fails. */
  async function batched(own: AbortSignal | undefined, work: (i: number) => Promise<void>): Promise<void> {
    if (busy) {
      throw new AgogeError(`${name} is still at the call before`, {
        code: 'busy',
        expected: 'one call of reset, step or truncate at a time',
      })
    }
    busy = true
    const given = [options.signal, own].filter((one) => one !== undefined)
    signal = given.length > 1 ? AbortSignal.any(given) : given[0]
    try {
      const results = await Promise.allSettled(Array.from({ length: count }, (_, i) => work(i)))
      const failure = results.find((result) => result.status === 'rejected')
      if (failure !== undefined) throw failure.reason
    } finally {
      busy = false
    }
  }

  return {
    ...arrays,
    infos: envs.infos,
    finalInfos: envs.finalInfos,
    faulted,
    async reset({ seed, mask, signal: own } = {}) {
      if (seed !== undefined) envs.reseed(seed)
      await batched(own, async (i) => {
        if (mask !== undefined && mask[i] !== 1) return
        await begin(i)
        envs.startCount(i)
        faulted[i] = 0
      })
    },
    async step({ signal: own } = {}) {
      await batched(own, (i) => {
        faulted[i] = 0
        return stepEnv(i)
      })
    },
    async truncate(envIndex) {
      await batched(undefined, async (i) => {
        if (i !== envIndex) return
        arrays.truncated[i] = 1
        if (ended[i] === 1) return
        envs.end(i)
        if (arrays.autoreset === 'same-step') await begin(i)
      })
    },
    state: () => objectState(envs, environments),
    restore(state) {
      restoreObjects(envs, environments, state)
      begunEnvs.fill(1)
    },
    async close() {
      await Promise.all(environments.map(async (environment) => environment.close?.()))
    },
  }
}

const reset = (
  environment: AsyncEnvironment,
  options: ResetOptions,
  call: CallOptions,
): Promise<ResetResult<unknown>> => environment.reset({ ...options, ...call })

const isCancelled = (error: unknown): boolean => AgogeError.isInstance(error) && error.code === 'cancelled'
