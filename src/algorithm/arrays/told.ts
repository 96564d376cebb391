import type { VectorEnvironment } from '../../environment/index.ts'

/**
 * The environment for wrappers within an algorithm: the loop has stepped it already, so it is only told. The loop has also
 * begun the first episodes, so that a reset is passed on only once these have been seen: then the algorithm asks for it.
 *
 * @param begun whether they have been seen.
 */
export const told = (environment: VectorEnvironment, begun: () => boolean): VectorEnvironment => ({
  ...environment,
  reset(options) {
    if (begun()) environment.reset(options)
  },
  step: () => {},
  state: () => ({ arrays: {}, streams: [], episodes: [] }),
  restore: () => {},
})
