import { adamStep, follow, runAdam, sumOfSquares } from './adam-kernel.ts'
import type { AdamStep } from './adam-kernel.ts'
import { instantiate } from './instantiate.ts'

export interface AdamNumbers extends Omit<AdamStep, 'gradientScale' | 'keep'> {
  /** What the gradient is multiplied with, from its norm. */
  scaleFor: (norm: number) => number
}

/** Adam over one array, with its moments, in WebAssembly: a tenth of the time of a loop over typed arrays. */
export interface AdamMachine {
  readonly first: Float32Array
  readonly second: Float32Array
  /** Memory for parameters, their gradient and a copy that follows them: what lies here is not copied for a step. */
  readonly own: {
    readonly parameters: Float32Array
    readonly gradient: Float32Array
    readonly target: Float32Array
  }
  /** One step in place, none where the norm is not finite; gives the norm of the gradient as it came, summed in double precision. */
  run(parameters: Float32Array, gradient: Float32Array, numbers: AdamNumbers): number
  /** `own.target` moves towards `own.parameters` by the share `rate`. */
  follow(rate: number): void
}

/** Steps of Adam (Kingma & Ba 2015) in single precision, for `length` numbers. */
export function adamMachine(length: number): AdamMachine {
  const vectors = Math.max(1, Math.ceil(length / 4))
  const place = (index: number): number => index * vectors * 4
  const machine = instantiate([adamStep, sumOfSquares, follow], place(5) + 4)
  const { adam, squares, follow: move } = machine.kernels
  const part = (index: number): Float32Array => machine.numbers.subarray(place(index), place(index) + length)
  const [held, given, first, second, target] = [0, 1, 2, 3, 4].map(part)
  const sumsAt = place(5) * 4
  const sums = new Float64Array(machine.numbers.buffer, sumsAt, 2)
  const addresses = [0, 1, 2, 3, 4].map((index) => place(index) * 4)
  return {
    first,
    second,
    own: { parameters: held, gradient: given, target },
    follow: (rate) => move(addresses[4], addresses[0], vectors, rate),
    run(parameters, gradient, { scaleFor, ...numbers }) {
      if (parameters !== held) held.set(parameters)
      if (gradient !== given) given.set(gradient)
      sums.fill(0)
      squares(addresses[1], vectors, sumsAt)
      const norm = Math.sqrt(sums[0] + sums[1])
      // Infinity times a scale of 0 would still be no number.
      if (!Number.isFinite(norm)) return norm
      runAdam(adam, addresses, vectors, { ...numbers, gradientScale: scaleFor(norm), keep: 1 })
      if (parameters !== held) parameters.set(held)
      return norm
    },
  }
}
