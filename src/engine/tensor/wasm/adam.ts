import {
  type Code,
  doubles,
  f32,
  i32,
  int,
  type Local,
  repeat,
  v128,
  vector,
  type WasmFunction,
} from './assembler.ts'
import { instantiate, type Kernel } from './plan.ts'

/**
 * Flushes tiny values to zero, but keeps NaN. Moments of units that stop learning decay for ever, and CPUs are
 * a hundred times slower for numbers below 1e-38.
 */
const flushed = (x: Local, least: Local): Code =>
  x.set(vector.select(vector.constant(0), x.get, vector.less(vector.abs(x.get), least.get)))

/** A moment below this has no effect beside an epsilon of 1e-5 or 1e-8. Its square is still a normal number. */
const leastGradient = 1e-18

/**
 * `adam(parameters, gradient, first, second, vectors, gradientScale, beta1, 1 - beta1, beta2, 1 - beta2,
 * secondScale, stepSize, epsilon, keep)`: one step of Adam in place, four numbers per vector. Multiplies the
 * parameters by `keep` first.
 */
export const adamStep: WasmFunction = {
  name: 'adam',
  parameters: [i32, i32, i32, i32, i32, f32, f32, f32, f32, f32, f32, f32, f32, f32],
  code: ([parameter, gradient, first, second, vectors, ...numbers], builder) => {
    const all = numbers.map(() => builder.local(v128))
    const [scale, beta1, fresh1, beta2, fresh2, secondScale, stepSize, epsilon, keep] = all
    const [g, m, v, least, leastSquare] = [0, 1, 2, 3, 4].map(() => builder.local(v128))
    const { add, sub, mul, div, load, store, sqrt } = vector
    return [
      all.map((local, i) => local.set(vector.splat(numbers[i].get))),
      [least.set(vector.constant(leastGradient)), leastSquare.set(vector.constant(leastGradient ** 2))],
      repeat(
        [
          g.set(mul(load(gradient.get), scale.get)),
          flushed(g, least),
          m.set(add(mul(load(first.get), beta1.get), mul(g.get, fresh1.get))),
          v.set(add(mul(load(second.get), beta2.get), mul(mul(g.get, g.get), fresh2.get))),
          flushed(m, least),
          flushed(v, leastSquare),
          store(first.get, m.get),
          store(second.get, v.get),
          store(
            parameter.get,
            sub(
              mul(load(parameter.get), keep.get),
              div(mul(stepSize.get, m.get), add(mul(sqrt(v.get), secondScale.get), epsilon.get)),
            ),
          ),
          [parameter, gradient, first, second].map((pointer) => pointer.add(int.constant(16))),
        ],
        vectors.tee(int.sub(vectors.get, int.constant(1))),
      ),
    ]
  },
}

/** The numbers of a step of Adam. */
export interface AdamStep {
  learningRate: number
  beta1: number
  beta2: number
  epsilon: number
  /** Counts from 1. */
  step: number
  /** Multiplies the gradient. */
  gradientScale: number
  /** The factor of decoupled weight decay for the parameters; 1 for none. */
  keep: number
}

/** Calls `adam` for this many vectors, at the addresses of parameters, gradient and both moments. */
export function runAdam(
  adam: Kernel,
  [parameters, gradient, first, second]: readonly number[],
  vectors: number,
  { learningRate, beta1, beta2, epsilon, step, gradientScale, keep }: AdamStep,
): void {
  const secondScale = 1 / Math.sqrt(1 - beta2 ** step)
  const stepSize = learningRate / (1 - beta1 ** step)
  const decays = [beta1, 1 - beta1, beta2, 1 - beta2]
  adam(
    parameters,
    gradient,
    first,
    second,
    vectors,
    gradientScale,
    ...decays,
    secondScale,
    stepSize,
    epsilon,
    keep,
  )
}

/** `squares(from, vectors, to)`: adds the squares to two doubles at `to`, whose sum is the result. */
export const sumOfSquares: WasmFunction = {
  name: 'squares',
  parameters: [i32, i32, i32],
  code: ([from, vectors, to], builder) => {
    const [low, high, x, pair] = [0, 1, 2, 3].map(() => builder.local(v128))
    const square = (sum: typeof low) => sum.set(doubles.add(sum.get, doubles.mul(pair.get, pair.get)))
    return [
      [low.set(vector.load(to.get)), high.set(doubles.zero)],
      repeat(
        [
          x.set(vector.load(from.get)),
          [pair.set(vector.double(x.get)), square(low)],
          [pair.set(vector.double(vector.shuffle(x.get, x.get, [2, 3, 2, 3]))), square(high)],
          from.add(int.constant(16)),
        ],
        vectors.tee(int.sub(vectors.get, int.constant(1))),
      ),
      doubles.store(to.get, doubles.add(low.get, high.get)),
    ]
  },
}

/** `follow(target, source, vectors, rate)`: target += rate (source - target). */
const follow: WasmFunction = {
  name: 'follow',
  parameters: [i32, i32, i32, f32],
  code: ([target, source, vectors, rate], builder) => {
    const [share, weights] = [builder.local(v128), builder.local(v128)]
    const { add, sub, mul, load, store } = vector
    return [
      share.set(vector.splat(rate.get)),
      repeat(
        [
          weights.set(load(target.get)),
          store(target.get, add(weights.get, mul(share.get, sub(load(source.get), weights.get)))),
          [target, source].map((pointer) => pointer.add(int.constant(16))),
        ],
        vectors.tee(int.sub(vectors.get, int.constant(1))),
      ),
    ]
  },
}

export interface AdamNumbers extends Omit<AdamStep, 'gradientScale' | 'keep'> {
  /** The factor of the gradient, from its norm. */
  scaleFor: (norm: number) => number
}

/** Adam over one array in WebAssembly, with its moments. Takes a tenth of the time of a loop over typed arrays. */
export interface AdamMachine {
  readonly first: Float32Array
  readonly second: Float32Array
  /** Memory for the parameters, their gradient and a target copy. Arrays here are not copied for a step. */
  readonly own: {
    readonly parameters: Float32Array
    readonly gradient: Float32Array
    readonly target: Float32Array
  }
  /**
   * Takes one step in place, or none if the norm is not finite. Returns the norm of the unscaled gradient,
   * summed in double precision.
   */
  run(parameters: Float32Array, gradient: Float32Array, numbers: AdamNumbers): number
  /** Moves `own.target` towards `own.parameters`: target += rate (parameters - target). */
  follow(rate: number): void
}

/** Adam (Kingma & Ba 2015) in single precision, for `length` numbers. */
export function adamMachine(length: number): AdamMachine {
  const vectors = Math.max(1, Math.ceil(length / 4))
  const place = (index: number): number => index * vectors * 4
  const machine = instantiate([adamStep, sumOfSquares, follow], place(5) + 4)
  const { adam, squares, follow: move } = machine.kernels
  const part = (index: number): Float32Array => machine.numbers.subarray(place(index), place(index) + length)
  const [weights, given, first, second, target] = [0, 1, 2, 3, 4].map(part)
  const sumsAt = place(5) * 4
  const sums = new Float64Array(machine.numbers.buffer, sumsAt, 2)
  const addresses = [0, 1, 2, 3, 4].map((index) => place(index) * 4)
  return {
    first,
    second,
    own: { parameters: weights, gradient: given, target },
    follow: (rate) => move(addresses[4], addresses[0], vectors, rate),
    run(parameters, gradient, { scaleFor, ...numbers }) {
      if (parameters !== weights) weights.set(parameters)
      if (gradient !== given) given.set(gradient)
      sums.fill(0)
      squares(addresses[1], vectors, sumsAt)
      const norm = Math.sqrt(sums[0] + sums[1])
      // Infinity times a scale of 0 would be NaN.
      if (!Number.isFinite(norm)) return norm
      runAdam(adam, addresses, vectors, { ...numbers, gradientScale: scaleFor(norm), keep: 1 })
      if (parameters !== weights) parameters.set(weights)
      return norm
    },
  }
}
