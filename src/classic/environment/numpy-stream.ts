import { createPcg64 } from '../../engine/random/index.ts'
import type { Pcg64, Pcg64State } from '../../engine/random/index.ts'
import { sampleCategorical } from './finite-model.ts'
import type { EnvironmentStream } from './environment-random.ts'

/** A stream that is `numpy.random.default_rng(seed)`, and so `gymnasium.utils.seeding.np_random(seed)`, bit for bit. */
export interface NumpyStream extends EnvironmentStream, Pick<Pcg64, 'exponential' | 'fillIntegers8'> {
  /** Gymnasium's `categorical_sample`: the first index whose cumulative probability is above a random(); 0 for none. */
  categorical(probabilities: ArrayLike<number>): number
}

/**
 * For parity with environments and spaces of Gymnasium; a draw takes about twice as long as one of the fast stream.
 * @throws AgogeError `bad-argument` where the seed is no integer of at least 0.
 */
export function numpyStream(seed: number | bigint): NumpyStream {
  const generator = createPcg64(seed)
  return {
    random: () => generator.random(),
    uniform: (low, high) => low + (high - low) * generator.random(),
    integers: (n) => generator.integers(0, n),
    normal: () => generator.normal(),
    exponential: () => generator.exponential(),
    fillIntegers8: (n, out) => generator.fillIntegers8(n, out),
    categorical: (probabilities) =>
      sampleCategorical(probabilities, 0, probabilities.length, generator.random()),
    state: () => generator.state(),
    restore: (state) => generator.restore(state as Pcg64State),
  }
}

/** The `stream` of a vector environment that seeds its slots as Gymnasium's do: slot i with seed + i. */
export const numpyEnvStream = (seed: number, envIndex: number): NumpyStream => numpyStream(seed + envIndex)
