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
 * Runs a call that may take at most `milliseconds` (Infinity: any time) and that `signal` cancels. The call gets a signal
 * of its own, aborted in both cases; the promise is settled even where the call ignores it.
 * @throws AgogeError `deadline` or `cancelled`, with what `what` says.
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

export interface AsyncVectorOptions extends ObjectVectorOptions {
  /** Milliseconds that one step of one environment may take. Default: any time. */
  stepDeadline?: number
  /** Milliseconds that one reset of one environment may take. Default: any time. */
  resetDeadline?: number
  /** Cancels every call that is under way. */
  signal?: AbortSignal
  /**
   * Where a step throws or passes its deadline. `throw` (default): the vector's step throws. `truncate`: the environment's
   * episode is cut there with reward 0 and marked in `faulted`, since a fault of the environment says nothing of the
   * agent; the object is closed and made anew.
   */
  onFault?: 'throw' | 'truncate'
}

/** The asynchronous twin of a vector environment: the same arrays, all environments stepped at once. */
export interface AsyncVectorEnvironment extends Omit<VectorEnvironment, 'reset' | 'step' | 'truncate'> {
  /** [environments]: what was said with the rows of `observations` and of `finalObservations`. */
  readonly infos: readonly (Info | undefined)[]
  readonly finalInfos: readonly (Info | undefined)[]
  /** [environments]: 1 where the episode that has just been truncated was cut by a fault; it should train nothing. */
  readonly faulted: Uint8Array
  reset(options?: { seed?: number; mask?: Uint8Array; signal?: AbortSignal }): Promise<void>
  step(options?: { signal?: AbortSignal }): Promise<void>
  truncate(envIndex: number): Promise<void>
  close(): Promise<void>
}

/** Tries to begin an episode before giving up, where faults truncate. */
const attempts = 3

/**
 * `count` objects, synchronous or not, as an asynchronous vector environment. Every call is given `{ signal, id }`; the
 * id of a step is unique in the run and stays the same where the call is repeated.
 *
 * One call at a time: `busy` is thrown where one is under way. Rows are written as answers come in, and are complete when
 * the promise is resolved; where it is rejected, the environments that failed need a reset.
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
  /** How many objects an environment has had. */
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
    // An object that hangs may hang in close as well, so nobody waits for it.
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

  /** Runs one call of the vector; all environments are waited for, also where one fails. */
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
