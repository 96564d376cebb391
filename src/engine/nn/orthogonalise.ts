import { add, compile, div, matmul, mul, sqrt, square, sum } from '../tensor/index.ts'
import type { Program, Tensor } from '../tensor/index.ts'

// The quintic of Jordan et al. 2024 (https://kellerjordan.github.io/posts/muon/): tuned for the steepest slope at zero.
const [a, b, c] = [3.4445, -4.775, 2.0315]
const iterations = 5

/** The Newton-Schulz iteration as a traced function over stacked matrices [N, rows, columns]. */
export function newtonSchulz(stack: Tensor, rows: number, columns: number): Tensor {
  const tall = rows > columns
  let x = div(stack, add(sqrt(sum(square(stack), { axes: [1, 2], keepDims: true })), 1e-7))
  for (let i = 0; i < iterations; i++) {
    // On the shorter side the Gram matrix is the smaller one; the singular values are the same.
    const gram = tall ? matmul(x, x, { transposeA: true }) : matmul(x, x, { transposeB: true })
    const polynomial = add(mul(gram, b), mul(matmul(gram, gram), c))
    x = add(mul(x, a), tall ? matmul(x, polynomial) : matmul(polynomial, x))
  }
  return x
}

export interface Orthogonaliser {
  /** Replaces every matrix of the stack [count, rows, columns] by a nearly orthogonal one: singular values of about 0.7 to 1.2. */
  run(stack: Float32Array, rows: number, columns: number): Promise<Float32Array>
  release(): Promise<void>
}

/** Compiles one program a shape, at its first use. */
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
