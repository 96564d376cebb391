import { uniformValues } from '../../engine/nn/index.ts'
import type { ParameterSpec } from '../../engine/nn/index.ts'
import type { Network } from './network.ts'

/**
 * The same network, begun as PyTorch begins linear layers: weights and biases uniform within 1 / sqrt(inputs of the
 * layer). Off-policy references (Stable-Baselines3, CleanRL) leave it at that.
 */
export function fanInUniform(network: Network): Network {
  const specs: Record<string, ParameterSpec> = {}
  for (const [name, { shape }] of Object.entries(network.specs)) {
    const weight = network.specs[name.replace(/bias$/u, 'weight')]
    const limit = 1 / Math.sqrt(weight.shape.at(-1)!)
    const length = shape.reduce((product, n) => product * n, 1)
    specs[name] = { shape, initialise: (random) => uniformValues(random, length, limit) }
  }
  return { ...network, specs }
}
