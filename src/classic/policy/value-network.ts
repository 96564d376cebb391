import { layerNorm, linear, orthogonal, uniformValues } from '../../engine/nn/index.ts'
import type { Activation, ParameterSet, ParameterSpec } from '../../engine/nn/index.ts'
import type { Random } from '../../engine/random/index.ts'
import {
  add,
  mean,
  mul,
  relu,
  reshape,
  silu,
  slice,
  sub,
  tanh,
  concat,
  minimum,
} from '../../engine/tensor/index.ts'
import type { Tensor } from '../../engine/tensor/index.ts'
import { kernelForward, identityNetwork, fanInUniform, mlpNetwork } from './mlp.ts'
import type { Network, MlpOptions } from './mlp.ts'
import type { ArraySpace } from '../environment/index.ts'
import { overObservations } from './encoder.ts'
import type { Encoder } from './encoder.ts'

export interface ValueNetworkOptions {
  inputs: number
  hidden: readonly number[]
  actions: number
  /** Outputs for each action: 1, or the atoms of a distribution. Default: 1. */
  atoms?: number
  /** Default: relu. */
  activation?: Activation
  /** Adds a value to mean-centred advantages (duelling networks; Wang et al. 2016, arXiv:1511.06581). */
  dueling?: boolean
  /** Layer normalisation between each hidden layer and its activation. */
  layerNorm?: boolean
  /**
   * Initialisation. `torch`: weights and biases uniform within 1 / sqrt(inputs), as PyTorch's linear layers.
   * `orthogonal`: gain sqrt 2, biases zero. Default: `torch`.
   */
  initialise?: 'torch' | 'orthogonal'
}

const traced = { relu, silu, tanh }

/**
 * An MLP from observations to `atoms` numbers for each action: [rows, actions * atoms]. The atoms of an action
 * are adjacent.
 */
export function valueNetwork(options: ValueNetworkOptions): Network {
  const { inputs, hidden, actions, atoms = 1, activation = 'relu', dueling = false } = options
  const outputs = actions * atoms
  const widths = [inputs, ...hidden, outputs + (dueling ? atoms : 0)]
  const layers = widths.slice(1).map((to, i) => ({
    weight: `${i}.weight`,
    bias: `${i}.bias`,
    norm: options.layerNorm === true && i < hidden.length ? `${i}.norm` : undefined,
    from: widths[i],
    to,
  }))
  const specs: Record<string, ParameterSpec> = {}
  for (const { weight, bias, norm, from, to } of layers) {
    const limit = 1 / Math.sqrt(from)
    const isTorch = options.initialise !== 'orthogonal'
    specs[weight] = {
      shape: [to, from],
      initialise: (random) =>
        isTorch ? uniformValues(random, to * from, limit) : orthogonal(random, to, from, Math.SQRT2),
    }
    specs[bias] = {
      shape: [to],
      initialise: (random) => (isTorch ? uniformValues(random, to, limit) : new Float32Array(to)),
    }
    if (norm === undefined) continue
    specs[`${norm}.weight`] = { shape: [to], initialise: () => new Float32Array(to).fill(1) }
    specs[`${norm}.bias`] = { shape: [to], initialise: () => new Float32Array(to) }
  }
  const trace: Network['trace'] = (parameters, x) => {
    let h = x
    for (const { weight, bias, norm } of layers) {
      h = linear(h, { weight: parameters[weight], bias: parameters[bias] })
      if (weight === layers.at(-1)!.weight) break
      if (norm !== undefined) h = layerNorm(h, parameters[`${norm}.weight`], parameters[`${norm}.bias`])
      h = traced[activation](h)
    }
    return dueling ? join(h, actions, atoms) : h
  }
  return { inputs, outputs, specs, trace, forward: kernelForward({ inputs, specs, trace }) }
}

/** x [B, atoms * (1 + actions)], with the value first. */
function join(x: Tensor, actions: number, atoms: number): Tensor {
  const [rows] = x.shape
  const value = reshape(slice(x, { axis: 1, start: 0, end: atoms }), [rows, 1, atoms])
  const advantages = reshape(slice(x, { axis: 1, start: atoms }), [rows, actions, atoms])
  const centred = sub(advantages, mean(advantages, { axes: [1], keepDims: true }))
  return reshape(add(value, centred), [rows, actions * atoms])
}

/** Learned noise on the parameters of a network, for exploration. */
export interface NoisyParameters {
  /** The parameters of the network, which are the means, and a deviation `NAME.sigma` for each noisy one. */
  readonly specs: Readonly<Record<string, ParameterSpec>>
  /** Numbers of noise for one sample of all layers. */
  readonly noiseSize: number
  drawNoise(random: Random, noise: Float32Array): void
  /** Traced: the parameters of the network with noise [noiseSize] applied. */
  trace(parameters: Record<string, Tensor>, noise: Tensor): Record<string, Tensor>
  /** Writes the parameters with noise applied to `to`. Without noise it writes the means. */
  apply(parameters: ParameterSet, noise: Float32Array | undefined, to: ParameterSet): void
}

/**
 * Makes every linear layer (`X.weight` [outputs, inputs] with `X.bias`) noisy with factorised Gaussian noise
 * (Fortunato et al. 2018, "Noisy Networks for Exploration", arXiv:1706.10295). A layer samples one number for
 * each input and output; the noise of a weight is their product. The initial deviations are `sigma` /
 * sqrt(inputs).
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

/** One or more estimates Q(s, a) of the return, for continuous actions. */
export interface ActionValues {
  readonly specs: Readonly<Record<string, ParameterSpec>>
  /** Traced: x [B, observation] and actions [B, k] to the estimates, each [B]. */
  trace(parameters: Record<string, Tensor>, x: Tensor, actions: Tensor): Tensor[]
  /** Writes the minimum of the estimates of each row to `values` [rows]. */
  least(
    parameters: ParameterSet,
    x: Float32Array,
    actions: Float32Array,
    rows: number,
    values: Float32Array,
  ): void
}

/**
 * MLPs over the concatenation of the observation, or the output of an encoder, with the action. Their
 * parameters have the prefixes `q1.`, `q2.` ...
 */
export function mlpActionValues(
  sizes: { observation: ArraySpace; action: number; count: number },
  { encoder, ...options }: Pick<MlpOptions, 'hidden' | 'activation'> & { encoder?: Encoder | undefined },
): ActionValues {
  const { observation, action, count } = sizes
  const networks = Array.from({ length: count }, (_, i) => {
    const prefix = `q${i + 1}.`
    const front = overObservations(observation, identityNetwork, { encoder, prefix })
    const inputs = front.outputs + action
    return { front, head: fanInUniform(mlpNetwork({ ...options, inputs, outputs: 1, prefix })) }
  })
  return {
    specs: Object.assign(
      {},
      ...networks.map(({ front, head }) => ({ ...front.specs, ...head.specs })),
    ) as Record<string, ParameterSpec>,
    trace: (parameters, x, actions) =>
      networks.map(({ front, head }) =>
        reshape(head.trace(parameters, concat([front.trace(parameters, x), actions], 1)), [x.shape[0]]),
      ),
    least(parameters, x, actions, rows, values) {
      const [{ front: first }] = networks
      const features = new Float32Array(rows * first.outputs)
      const joined = new Float32Array(rows * (first.outputs + action))
      const found = new Float32Array(rows)
      values.fill(Infinity, 0, rows)
      for (const { front, head } of networks) {
        const { outputs } = front
        const { inputs } = head
        front.forward(parameters, x, rows, features)
        for (let r = 0; r < rows; r++) {
          joined.set(features.subarray(r * outputs, (r + 1) * outputs), r * inputs)
          joined.set(actions.subarray(r * action, (r + 1) * action), r * inputs + outputs)
        }
        head.forward(parameters, joined, rows, found)
        for (let r = 0; r < rows; r++) values[r] = Math.min(values[r], found[r])
      }
    },
  }
}

/** The minimum of several estimates of the same shape. */
export const leastOf = (estimates: readonly Tensor[]): Tensor => estimates.reduce((a, b) => minimum(a, b))
