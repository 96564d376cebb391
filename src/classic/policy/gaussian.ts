import type { BoxSpace } from '../environment/index.ts'
import { add, div, exp, mul, slice, square, sub, sum } from '../../engine/tensor/index.ts'
import type { Tensor } from '../../engine/tensor/index.ts'
import type { ActionDistribution } from './distribution.ts'

const halfLogTwoPi = 0.5 * Math.log(2 * Math.PI)

/**
 * Independent normals; the parameters of a row are the means, then the logarithms of the standard deviations. Actions
 * are not clipped here: log-probabilities are those of what was drawn. Whoever hands them to an environment clips (`clipActionRows`).
 */
export function gaussian(space: BoxSpace): ActionDistribution {
  const k = space.low.length
  const halves = (parameters: Tensor): [Tensor, Tensor] => [
    slice(parameters, { axis: 1, start: 0, end: k }),
    slice(parameters, { axis: 1, start: k, end: 2 * k }),
  ]
  return {
    parameters: 2 * k,
    actionSize: k,
    draw(parameters, row, actions, random) {
      const at = row * 2 * k
      let logprob = 0
      for (let i = 0; i < k; i++) {
        const logDeviation = parameters[at + k + i]
        const noise = random === undefined ? 0 : random.normal()
        actions[row * k + i] = parameters[at + i] + Math.exp(logDeviation) * noise
        logprob -= 0.5 * noise * noise + logDeviation + halfLogTwoPi
      }
      return logprob
    },
    logprob(parameters, actions) {
      const [means, logs] = halves(parameters)
      const noise = div(sub(actions, means), exp(logs))
      return sum(sub(mul(square(noise), -0.5), add(logs, halfLogTwoPi)), { axes: [-1] })
    },
    entropy: (parameters) => sum(add(halves(parameters)[1], 0.5 + halfLogTwoPi), { axes: [-1] }),
  }
}
