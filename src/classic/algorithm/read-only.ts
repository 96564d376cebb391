import type { AnyVector } from '../environment/index.ts'

/** An environment whose steps are over before they are told. */
export type ReadOnlyEnvironment = Omit<AnyVector, 'step'> & { step(): void }

/**
 * The environment for wrappers within an algorithm: the loop has stepped it already, so it is only told. The loop has also
 * begun the first episodes, so that a reset is passed on only once these have been seen: then the algorithm asks for it.
 *
 * @param begun whether they have been seen.
 */
export const readOnly = (environment: AnyVector, begun: () => boolean): ReadOnlyEnvironment => ({
  ...environment,
  reset: (options) => (begun() ? environment.reset(options) : undefined),
  step: () => {},
  state: () => ({ arrays: {}, streams: [], episodes: [] }),
  restore: () => {},
})
