import { defaultDevice, type HostTensor, type InputSpec, quantiseMatrix } from '../../engine/tensor/index.ts'
import { AgogeError } from '../../error.ts'
import type { TransformerConfig } from '../model/config.ts'
import { createFolding, foldedInputs, type FoldedWeights } from '../model/folded-weights.ts'
import type { Parameters } from '../model/parameters.ts'

/** Precisions of the sampler's matrices. */
export const samplingWeightTypes = ['float32', 'int8'] as const
/** Precision of the matrices that the sampler multiplies: `float32` or `int8`. */
export type SamplingWeights = (typeof samplingWeightTypes)[number]

/** Embeddings, biases and gains are not quantised: they are read, not multiplied. */
const isMatrix = (name: string): boolean => /^(?:head|\d+\.(?:qkv|out|gate|up|down))$/.test(name)

/** Name of the input with the scales of a matrix. */
export const scalesOf = (name: string): string => `scales.${name}`

/** `foldedInputs` with matrices [out, in] as int8 codes [in, out] and scales [out] for `quantisedMatmul`. */
export function quantisedInputs(config: TransformerConfig): Record<string, InputSpec> {
  return Object.fromEntries(
    Object.entries(foldedInputs(config)).flatMap(([name, spec]): [string, InputSpec][] => {
      if (!isMatrix(name)) return [[name, spec]]
      const [outputs, inner] = spec.shape
      return [
        [name, { shape: [inner, outputs], dtype: 'int8' }],
        [scalesOf(name), { shape: [outputs] }],
      ]
    }),
  )
}

/** `createFolding` for `quantisedInputs`: quantises again at each call, into the same arrays. */
export function createQuantisedFolding(
  parameters: Parameters,
  config: TransformerConfig,
): () => FoldedWeights {
  const fold = createFolding(parameters, config)
  const given = fold()
  const weights: FoldedWeights = { ...given }
  const matrices = Object.entries(given).filter(([name]) => isMatrix(name))
  for (const [name, { shape }] of matrices) {
    const [outputs, inner] = shape
    weights[name] = { data: new Int8Array(inner * outputs), shape: [inner, outputs] }
    weights[scalesOf(name)] = { data: new Float32Array(outputs), shape: [outputs] }
  }
  const floats = ({ data }: HostTensor): Float32Array => data as Float32Array
  return () => {
    fold()
    for (const [name, matrix] of matrices)
      quantiseMatrix(floats(matrix), weights[name].data as Int8Array, floats(weights[scalesOf(name)]))
    return weights
  }
}

/** @throws AgogeError `unsupported-device` on devices other than the CPU. */
export function requireProcessor(): void {
  const device = defaultDevice()
  if (device === 'cpu') return
  throw new AgogeError('Only the CPU samples with int8 weights', {
    code: 'unsupported-device',
    given: `samplingWeights: 'int8' with AGOGE_DEVICE=${device}`,
    expected: 'AGOGE_DEVICE=cpu, or float32',
    hint: 'Leave samplingWeights (--sampling-weights) out',
  })
}
