import { AgogeError } from '../../error.ts'
import type { Environment, Info } from './environment.ts'
import { createObjectEnvs, type ObjectEnvs, type ObjectVectorOptions } from './object-envs.ts'
import { restoreArrays, saveArrays, type VectorEnvironment, type VectorState } from './vector.ts'

/** Objects made by functions that are in use by a vector. */
const atPlay = new WeakSet<object>()

const shared = (envIndex: number): AgogeError =>
  new AgogeError('The function that makes environments gave one that is at play already', {
    code: 'bad-argument',
    given: `the same object again, for environment ${envIndex}`,
    expected: 'an object of its own for every environment, and for evaluation',
    hint: 'Make it within the function: () => new MyEnvironment()',
  })

/** @throws AgogeError `bad-argument` if two environments share an object, which each of them would step */
export function requireOneEach(environments: readonly unknown[]): void {
  const envIndex = environments.findIndex((one, i) => environments.indexOf(one) < i)
  if (envIndex >= 0) throw shared(envIndex)
}

/**
 * Like `requireOneEach`, also across vectors that run at the same time, such as those of training and of an
 * evaluation.
 *
 * @returns a function that releases the objects
 */
export function claimEach(environments: readonly object[]): () => void {
  requireOneEach(environments)
  const envIndex = environments.findIndex((one) => atPlay.has(one))
  if (envIndex >= 0) throw shared(envIndex)
  for (const one of environments) atPlay.add(one)
  return () => {
    for (const one of environments) atPlay.delete(one)
  }
}

/** A vector of user-defined objects. */
export interface ObjectVector extends VectorEnvironment {
  /** [numEnvs]: the infos that came with `observations` and `finalObservations`. */
  readonly infos: readonly (Info | undefined)[]
  readonly finalInfos: readonly (Info | undefined)[]
  close(): void
}

/**
 * Makes a vector environment of `count` objects, stepped one after another. It works wherever a
 * VectorEnvironment does, with the same autoreset, time limit and counts. Its `definition` has only the spaces
 * of the objects. `state()` needs objects with `state` and `restore`.
 *
 * @throws AgogeError here or from later calls: `not-an-environment`, `bad-step`, `shape-mismatch`,
 * `not-a-number`, `not-in-space`. The message names the environment, the step and the field.
 *
 * @example
 * const vector = vectorFrom(() => new MyEnvironment(), 4, { seed: 1 })
 * vector.reset()
 */
export function vectorFrom(
  makeEnv: (envIndex: number) => Environment,
  count: number,
  options: ObjectVectorOptions = {},
): ObjectVector {
  const environments = Array.from({ length: count }, (_, i) => makeEnv(i))
  requireOneEach(environments)
  const envs = createObjectEnvs(environments[0], count, options)
  const { arrays, ended } = envs
  let begun = false

  function begin(i: number): void {
    const result = calling(`${arrays.definition.name}, environment ${i}: reset`, () =>
      environments[i].reset(envs.resetOptions(i)),
    )
    envs.began(i, environments[i], result)
  }

  return {
    ...arrays,
    infos: envs.infos,
    finalInfos: envs.finalInfos,
    reset({ seed, mask } = {}) {
      if (seed !== undefined) envs.reseed(seed)
      for (let i = 0; i < count; i++) {
        if (mask !== undefined && mask[i] !== 1) continue
        begin(i)
        envs.startCount(i)
      }
      begun = true
    },
    step() {
      if (!begun) throw notBegun(arrays.definition.name)
      for (let i = 0; i < count; i++) {
        if (ended[i] === 1) {
          if (arrays.autoreset === 'disabled') throw envs.notReset(i)
          envs.startCount(i)
          if (arrays.autoreset === 'next-step') {
            begin(i)
            continue
          }
        }
        const result = calling(
          `${arrays.definition.name}, environment ${i}, step ${arrays.lengths[i] + 1}: step`,
          () => environments[i].step(envs.action(i) as never),
        )
        if (envs.stepped(i, environments[i], result) && arrays.autoreset === 'same-step') begin(i)
      }
    },
    truncate(i) {
      arrays.truncated[i] = 1
      if (ended[i] === 1) return
      envs.end(i)
      if (arrays.autoreset === 'same-step') begin(i)
    },
    state: () => objectState(envs, environments),
    restore(state) {
      restoreObjects(envs, environments, state)
      begun = true
    },
    close() {
      for (const environment of environments) environment.close?.()
    },
  }
}

/** Returns the result of a call. Adds the place to an error that it throws. */
function calling<T>(where: string, call: () => T): T {
  try {
    return call()
  } catch (error) {
    throw AgogeError.isInstance(error) ? error : threw(where, error)
  }
}

/** Wraps an error of user code, with the place. */
export function threw(where: string, cause: unknown): AgogeError {
  return new AgogeError(
    `${where} threw ${cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause)}`,
    {
      code: 'environment-threw',
      given: cause instanceof Error ? cause.message : cause,
      expected: 'what the call promises, or an episode that ends',
      hint: 'The stack of the environment is under `cause`; on the command line, --debug shows it',
      cause,
    },
  )
}

type Resumable = Pick<Environment, 'state' | 'restore'>

/** The state of a vector of objects. Each object needs `state`. */
export function objectState(envs: ObjectEnvs, environments: readonly Resumable[]): VectorState {
  return {
    arrays: saveArrays(envs.stored),
    streams: environments.map((environment) => {
      if (environment.state === undefined || environment.restore === undefined)
        throw notResumable(envs.arrays.definition.name)
      return environment.state()
    }),
    episodes: [...envs.episodes],
  }
}

export function restoreObjects(
  envs: ObjectEnvs,
  environments: readonly Resumable[],
  state: VectorState,
): void {
  restoreArrays(envs.arrays.definition.name, envs.stored, state.arrays)
  environments.forEach((environment, i) => {
    if (environment.restore === undefined) throw notResumable(envs.arrays.definition.name)
    environment.restore(state.streams[i])
    envs.episodes[i] = state.episodes[i]
  })
}

export function notBegun(name: string): AgogeError {
  return new AgogeError(`${name} was stepped before it was reset`, {
    code: 'reset-needed',
    hint: 'call reset() first',
  })
}

function notResumable(name: string): AgogeError {
  return new AgogeError(`${name} cannot be saved and continued`, {
    code: 'not-resumable',
    given: 'an environment without state() and restore()',
    expected: 'both, with everything that the rest of an episode depends on',
  })
}
