import { box, discrete } from '../../environment/index.ts'
import type { AsyncEnvironment, Environment } from '../../environment/index.ts'

/**
 * For tests: a user's own object. It shows a sign, pays 1 for the right answer (0 or 1), and ends after four
 * steps.
 */
export function signs(): Environment & { closed: boolean } {
  let sign = 1
  let step = 0
  let seed = 1
  const show = () => {
    // Lehmer's generator, which suffices for signs.
    seed = (seed * 48_271) % 2_147_483_647
    sign = seed % 2 === 0 ? 1 : -1
    return { observation: Float32Array.of(sign, step) }
  }
  return {
    name: 'signs',
    observationSpace: box([2], -1, 4),
    actionSpace: discrete(2),
    closed: false,
    reset(options = {}) {
      if (options.seed !== undefined) seed = 1 + (options.seed % 2_147_483_646)
      step = 0
      return show()
    },
    step(action) {
      const reward = (action === 1) === sign > 0 ? 1 : 0
      step++
      return { ...show(), reward, terminated: step === 4, truncated: false }
    },
    state: () => ({ sign, step, seed }),
    restore(state) {
      ;({ sign, step, seed } = state as { sign: number; step: number; seed: number })
    },
    close() {
      this.closed = true
    },
  }
}

/** The same, with asynchronous answers. */
export function laterSigns(): AsyncEnvironment {
  const inner = signs()
  return {
    name: 'later signs',
    observationSpace: inner.observationSpace,
    actionSpace: inner.actionSpace,
    async reset(options) {
      await Promise.resolve()
      return inner.reset(options)
    },
    async step(action) {
      await Promise.resolve()
      return inner.step(action)
    },
  }
}
