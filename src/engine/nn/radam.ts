import type { Adam, AdamOptions } from './adam.ts'
import { createAdamMoments } from './adamw.ts'
import { clipScale, globalNorm } from './clip.ts'

/**
 * Adam whose adaptive step is held back while its variance is not yet known (Liu et al. 2020, arXiv:1908.03265), with
 * the semantics of `torch.optim.RAdam`.
 */
export function createRAdam(length: number, options: AdamOptions = {}): Adam {
  const { beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, maxGradientNorm } = options
  const { first, second } = createAdamMoments(length)
  const longest = 2 / (1 - beta2) - 1
  let steps = 0
  return {
    step(parameters, gradient, learningRate) {
      const norm = globalNorm([gradient])
      if (!Number.isFinite(norm)) return norm
      const scale = maxGradientNorm === undefined ? 1 : clipScale(norm, maxGradientNorm)
      steps++
      const left = 1 - beta2 ** steps
      // The length of the average, in the paper rho.
      const rho = longest - (2 * steps * beta2 ** steps) / left
      const rectified =
        rho > 5
          ? Math.sqrt(((rho - 4) * (rho - 2) * longest) / ((longest - 4) * (longest - 2) * rho)) *
            Math.sqrt(left)
          : 0
      const rate = learningRate / (1 - beta1 ** steps)
      for (let i = 0; i < length; i++) {
        const g = gradient[i] * scale
        const m = beta1 * first[i] + (1 - beta1) * g
        const v = beta2 * second[i] + (1 - beta2) * g * g
        first[i] = m
        second[i] = v
        parameters[i] -= rate * m * (rectified === 0 ? 1 : rectified / (Math.sqrt(v) + epsilon))
      }
      return norm
    },
    state: () => ({ first: first.slice(), second: second.slice(), steps }),
    restore(state) {
      first.set(state.first)
      second.set(state.second)
      steps = state.steps
    },
  }
}
