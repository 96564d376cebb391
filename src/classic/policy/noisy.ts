import type { ParameterSet, ParameterSpec } from '../../engine/nn/index.ts'
import type { Random } from '../../engine/random/index.ts'
import { add, mul, reshape, slice } from '../../engine/tensor/index.ts'
import type { Tensor } from '../../engine/tensor/index.ts'

/** Learned noise on the parameters of a network, for exploration. */
export interface NoisyParameters {
  /** Those of the network, which are the means, and a deviation `NAME.sigma` for each that is noisy. */
  readonly specs: Readonly<Record<string, ParameterSpec>>
  /** Numbers of noise for one draw of all layers. */
  readonly noiseSize: number
  drawNoise(random: Random, noise: Float32Array): void
  /** The network's parameters under noise [noiseSize], traced. */
  trace(parameters: Record<string, Tensor>, noise: Tensor): Record<string, Tensor>
  /** The same into `to`; without noise the means. */
  apply(parameters: ParameterSet, noise: Float32Array | undefined, to: ParameterSet): void
}

/**
 * Makes every linear layer (`X.weight` [outputs, inputs] with `X.bias`) noisy with factorised Gaussian noise (Fortunato
 * et al. 2018, "Noisy Networks for Exploration", arXiv:1706.10295): a layer draws one number for each input and output,
 * and the noise of a weight is their product. Deviations begin at `sigma` / sqrt(inputs).
 */
export function noisyParameters(
  specs: Readonly<Record<string, ParameterSpec>>,
  sigma = 0.5,
): NoisyParameters {
  let noiseSize = 0
  const layers = Object.entries(specs)
    .filter(([name, { shape }]) => name.endsWith('.weight') && shape.length === 2)
    .map(([weight, { shape }]) => {
      const [outputs, inputs] = shape
      const start = noiseSize
      noiseSize += inputs + outputs
      return { weight, bias: weight.replace(/weight$/, 'bias'), inputs, outputs, start }
    })
  const all: Record<string, ParameterSpec> = { ...specs }
  for (const { weight, bias, inputs } of layers) {
    for (const name of [weight, bias]) {
      const { shape } = specs[name]
      const size = shape.reduce((product, length) => product * length, 1)
      all[`${name}.sigma`] = {
        shape,
        initialise: () => new Float32Array(size).fill(sigma / Math.sqrt(inputs)),
      }
    }
  }
  return {
    specs: all,
    noiseSize,
    drawNoise(random, noise) {
      for (let i = 0; i < noiseSize; i++) {
        const z = random.normal()
        noise[i] = Math.sign(z) * Math.sqrt(Math.abs(z))
      }
    },
    trace(parameters, noise) {
      const found: Record<string, Tensor> = {}
      for (const name of Object.keys(specs)) found[name] = parameters[name]
      for (const { weight, bias, inputs, outputs, start } of layers) {
        const middle = start + inputs
        const row = reshape(slice(noise, { axis: 0, start, end: middle }), [1, inputs])
        const outer = slice(noise, { axis: 0, start: middle, end: middle + outputs })
        const product = mul(reshape(outer, [outputs, 1]), row)
        found[weight] = add(parameters[weight], mul(parameters[`${weight}.sigma`], product))
        found[bias] = add(parameters[bias], mul(parameters[`${bias}.sigma`], outer))
      }
      return found
    },
    apply(parameters, noise, to) {
      for (const name of Object.keys(specs)) to.views[name].set(parameters.views[name])
      if (noise === undefined) return
      for (const { weight, bias, inputs, outputs, start } of layers) {
        const weights = to.views[weight]
        const biases = to.views[bias]
        const weightSigma = parameters.views[`${weight}.sigma`]
        const biasSigma = parameters.views[`${bias}.sigma`]
        for (let o = 0, w = 0; o < outputs; o++) {
          const outer = noise[start + inputs + o]
          biases[o] += biasSigma[o] * outer
          for (let i = 0; i < inputs; i++, w++) weights[w] += weightSigma[w] * outer * noise[start + i]
        }
      }
    },
  }
}
