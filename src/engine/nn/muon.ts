import {
  add,
  compile,
  div,
  matmul,
  mul,
  type Program,
  sqrt,
  square,
  sum,
  type Tensor,
} from '../tensor/index.ts'
import { globalNorm } from './optimisers.ts'

// The quintic of Jordan et al. 2024 (https://kellerjordan.github.io/posts/muon/), tuned for the steepest slope
// at zero.
const [a, b, c] = [3.4445, -4.775, 2.0315]
const iterations = 5

/** The Newton-Schulz iteration as a traced function over stacked matrices [N, rows, columns]. */
export function newtonSchulz(stack: Tensor, rows: number, columns: number): Tensor {
  const tall = rows > columns
  let x = div(stack, add(sqrt(sum(square(stack), { axes: [1, 2], keepDims: true })), 1e-7))
  for (let i = 0; i < iterations; i++) {
    // Works on the shorter side, where the Gram matrix is smaller. The singular values are the same.
    const gram = tall ? matmul(x, x, { transposeA: true }) : matmul(x, x, { transposeB: true })
    const polynomial = add(mul(gram, b), mul(matmul(gram, gram), c))
    x = add(mul(x, a), tall ? matmul(x, polynomial) : matmul(polynomial, x))
  }
  return x
}

/** Orthogonalises matrices by `newtonSchulz`. Holds a compiled program for each shape until `release`. */
export interface Orthogonaliser {
  /**
   * Replaces every matrix of a stack [count, rows, columns] by a nearly orthogonal one, with singular values of
   * about 0.7 to 1.2.
   */
  run(stack: Float32Array, rows: number, columns: number): Promise<Float32Array>
  release(): Promise<void>
}

/** Compiles one program for each shape, at its first use. */
export function createOrthogonaliser(options: { threads?: number } = {}): Orthogonaliser {
  const programs = new Map<string, Promise<Program>>()
  return {
    async run(stack, rows, columns) {
      const name = `orthogonalise-${rows}x${columns}`
      let program = programs.get(name)
      if (program === undefined) {
        program = compile(
          { stack: { shape: ['N', rows, columns] } },
          ({ stack: traced }) => ({ result: newtonSchulz(traced, rows, columns) }),
          { ...options, name },
        )
        programs.set(name, program)
      }
      const shape = [stack.length / (rows * columns), rows, columns]
      const { result } = await (await program).run({ stack: { data: stack, shape } })
      return result.data as Float32Array
    },
    async release() {
      const all = await Promise.all(programs.values())
      programs.clear()
      await Promise.all(all.map((program) => program.release()))
    },
  }
}

/** A weight matrix [rows, columns], updated in place, and its momentum. */
export interface MuonMatrix {
  rows: number
  columns: number
  parameter: Float32Array
  gradient: Float32Array
  /** Starts at zero. */
  momentum: Float32Array
}

/** Options of one step of Muon. */
export interface MuonOptions {
  learningRate: number
  /** Default: 0.95. */
  momentum?: number
  /** Decoupled weight decay, as in AdamW. Default: 0. */
  weightDecay?: number
  /** Multiplies the gradients first. With 0, no step is taken. Default: 1. */
  gradientScale?: number
}

/** The optimiser that `createMuon` makes, for weight matrices. It holds compiled programs until `release`. */
export interface Muon {
  /**
   * One step for all matrices, in place.
   *
   * @returns whether the step was taken. If a gradient has an entry that is not finite, or the scale is 0, no
   * matrix and no momentum changes.
   */
  step(matrices: readonly MuonMatrix[], options: MuonOptions): Promise<boolean>
  release(): Promise<void>
}

/**
 * Muon (Jordan et al. 2024): orthogonalises the Nesterov momentum of each matrix. Scales the update by 0.2
 * sqrt(max(rows, columns)), so that its root mean square equals that of AdamW and both can share a learning
 * rate (Liu et al. 2025, "Muon is scalable", arXiv:2502.16982). Matrices of the same shape are orthogonalised
 * in one batch.
 */
export function createMuon(options: { threads?: number } = {}): Muon {
  const orthogonaliser = createOrthogonaliser(options)
  return {
    async step(matrices, stepOptions) {
      const { gradientScale = 1 } = stepOptions
      const norm = globalNorm(matrices.map(({ gradient }) => gradient))
      if (gradientScale === 0 || !Number.isFinite(norm * gradientScale)) return false
      const byShape = groupByShape(matrices)
      for (const group of byShape.values()) {
        const { rows, columns } = group[0]
        const update = await orthogonaliser.run(nesterov(group, stepOptions), rows, columns)
        apply(group, update, stepOptions)
      }
      return true
    },
    release: () => orthogonaliser.release(),
  }
}

/** Updates the momenta and stacks `gradient + momentum * (new momentum)`. */
function nesterov(
  group: readonly MuonMatrix[],
  { momentum: decay = 0.95, gradientScale = 1 }: MuonOptions,
): Float32Array {
  const size = group[0].rows * group[0].columns
  const stack = new Float32Array(group.length * size)
  group.forEach(({ gradient, momentum }, n) => {
    for (let i = 0; i < size; i++) {
      const g = gradient[i] * gradientScale
      const m = decay * momentum[i] + g
      momentum[i] = m
      stack[n * size + i] = g + decay * m
    }
  })
  return stack
}

function apply(
  group: readonly MuonMatrix[],
  update: Float32Array,
  { learningRate, weightDecay = 0 }: MuonOptions,
): void {
  const { rows, columns } = group[0]
  const size = rows * columns
  const keep = 1 - learningRate * weightDecay
  const scale = learningRate * 0.2 * Math.sqrt(Math.max(rows, columns))
  group.forEach(({ parameter }, n) => {
    for (let i = 0; i < size; i++) parameter[i] = parameter[i] * keep - scale * update[n * size + i]
  })
}

function groupByShape(matrices: readonly MuonMatrix[]): Map<string, MuonMatrix[]> {
  const groups = new Map<string, MuonMatrix[]>()
  for (const matrix of matrices) {
    const key = `${matrix.rows}x${matrix.columns}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [matrix])
    else group.push(matrix)
  }
  return groups
}
