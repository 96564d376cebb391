import type { HostTensor, Tensor } from '../../engine/tensor/index.ts'
import { attentionParts, headWidth } from './config.ts'
import type { TransformerConfig } from './config.ts'
import type { FoldedGradient } from './folded-weights.ts'
import { parameterLayout } from './parameters.ts'
import type { Parameters } from './parameters.ts'

/** Matrices of a block that can have a low-rank adapter. `q`, `k` and `v` are parts of the weight `qkv`. */
export const adaptedParts = ['q', 'k', 'v', 'out', 'gate', 'up', 'down'] as const

export type AdaptedPart = (typeof adaptedParts)[number]

/** A matrix [rows, columns] with a low-rank adapter. */
export interface LowRankMatrix {
  /** Its name in programs: `LAYER.PART`, as `0.q`, or `head`. */
  name: string
  rows: number
  columns: number
  /** Offsets of A [rank, columns] and B [rows, rank] in the adapter's data. */
  a: number
  b: number
}

/** The factors of a low-rank adapter. The weights of programs already include `scale * B A`. */
export interface LowRank {
  rank: number
  scale: number
  matrices: readonly LowRankMatrix[]
  data: Float32Array
}

/** A [rank, in] and B [out, rank] of one matrix as inputs of a program, folded like the matrix. */
export interface Factors {
  a: Tensor
  b: Tensor
}

/** Factors by name, `q.a` and `q.b`; those of a matrix without an adapter are missing. */
export type NamedFactors<N extends string = AdaptedPart> = Partial<Record<`${N}.${'a' | 'b'}`, Tensor>>

/** The factors of a matrix, if it has any. */
export function factorsOf<N extends string>(tensors: NamedFactors<N>, name: N): Factors | undefined {
  const a = tensors[`${name}.a`]
  const b = tensors[`${name}.b`]
  return a && b && { a, b }
}

export function namedFactors<N extends string>(name: N, factors: Factors | undefined): NamedFactors<N> {
  const named = factors && { [`${name}.a`]: factors.a, [`${name}.b`]: factors.b }
  return { ...named } as NamedFactors<N>
}

export interface NamedShape {
  name: string
  shape: number[]
}

/** Inputs of programs for the folded factors. */
export function factorInputs(lowRank: LowRank | undefined): Record<string, { shape: number[] }> {
  const { rank, matrices } = lowRank ?? { rank: 0, matrices: [] }
  return Object.fromEntries(
    matrices.flatMap(({ name, rows, columns }) => [
      [`${name}.a`, { shape: [rank, columns] }],
      [`${name}.b`, { shape: [rows, rank] }],
    ]),
  )
}

/** The gradients that programs return instead of those of the weights: of folded factors, that of B transposed. */
export function factorGradients({ rank, matrices }: LowRank): NamedShape[] {
  return matrices.flatMap(({ name, rows, columns }) => [
    { name: `${name}.a`, shape: [rank, columns] },
    { name: `${name}.b`, shape: [rank, rows] },
  ])
}

/** Folded factors for programs, and sums of their gradients over the batches of a call. */
export interface FoldedFactors extends FoldedGradient {
  /** Folds the factors again at each call, into the same arrays. */
  fold(): Record<string, HostTensor>
}

/** A matrix with what is folded into it: the gain of the norm before it, and a factor. */
interface FoldedMatrix extends LowRankMatrix {
  /** Offset of the gain in the parameters. */
  gain: number | undefined
  factor: number
}

const gains: Record<string, string> = {
  q: 'attentionNorm',
  k: 'attentionNorm',
  v: 'attentionNorm',
  gate: 'mlpNorm',
  up: 'mlpNorm',
}

function foldedMatrix(matrix: LowRankMatrix, scale: number, config: TransformerConfig): FoldedMatrix {
  const { views } = parameterLayout(config)
  const [layer, part] = matrix.name.split('.')
  const norm = part === undefined ? 'norm' : gains[part] && `${layer}.${gains[part]}`
  const scaled = part === 'q' && !attentionParts(config).headNorms
  return {
    ...matrix,
    gain: views.find(({ name }) => name === norm)?.offset,
    factor: scaled ? scale / Math.sqrt(headWidth(config)) : scale,
  }
}

/**
 * The counterpart of `createFolding` and `createFoldedGradient` for an adapter. Its gradients cost products of `rank`
 * columns. With x the input of a matrix and g the gradient of its output, dA = scale (g B)^T x and dB = scale g^T (x
 * A^T): the chain rule through the gradient of the weight, g^T x, without computing it. Allocates its arrays at first
 * use.
 */
export function createFoldedFactors(
  lowRank: LowRank,
  parameters: Parameters,
  config: TransformerConfig,
): FoldedFactors {
  const { rank, scale, data } = lowRank
  const matrices = lowRank.matrices.map((matrix) => foldedMatrix(matrix, scale, config))
  const zeros = (prefix: string, shapes: readonly NamedShape[]): Record<string, HostTensor> =>
    Object.fromEntries(
      shapes.map(({ name, shape }) => {
        return [`${prefix}${name}`, { data: new Float32Array(shape[0] * shape[1]), shape }]
      }),
    )
  const shapes = factorGradients(lowRank)
  const allocateTurn = () => {
    const sums = zeros('sum.', shapes)
    const into = shapes.map(({ name }) => [`gradient.${name}`, sums[`sum.${name}`]])
    return { sums, into: Object.fromEntries(into) as Record<string, HostTensor> }
  }
  // Two arrays used alternately, since a program cannot write to its input.
  const allocate = () => ({
    now: allocateTurn(),
    next: allocateTurn(),
    folded: zeros(
      '',
      Object.entries(factorInputs(lowRank)).map(([name, { shape }]) => ({ name, shape })),
    ),
  })
  let arrays: ReturnType<typeof allocate> | undefined
  const used = () => (arrays ??= allocate())
  const sumOf = (name: string): Float32Array => used().now.sums[`sum.${name}`].data as Float32Array

  const head = matrices.find(({ name }) => name === 'head')

  return {
    rowWidths: head === undefined ? {} : { head: rank },
    fold() {
      const { folded } = used()
      for (const { name, rows, columns, a, b, gain, factor } of matrices) {
        const [ofA, ofB] = ['a', 'b'].map((which) => folded[`${name}.${which}`].data as Float32Array)
        for (let i = 0; i < rank * columns; i++)
          ofA[i] = data[a + i] * (gain === undefined ? 1 : parameters.data[gain + (i % columns)])
        for (let i = 0; i < rows * rank; i++) ofB[i] = data[b + i] * factor
      }
      return folded
    },
    feeds: () => ({ sums: used().now.sums, into: used().next.into }),
    advance() {
      const { now, next, folded } = used()
      arrays = { now: next, next: now, folded }
    },
    addRows(name, ids, rows) {
      if (name !== 'head' || head === undefined) return
      const target = sumOf(`${name}.b`)
      ids.forEach((id, r) => {
        for (let j = 0; j < rank; j++) target[j * head.rows + id] += rows[r * rank + j]
      })
    },
    unfold(current, gradient) {
      for (const { name, rows, columns, a, b, gain, factor } of matrices) {
        const [ofA, ofB] = [sumOf(`${name}.a`), sumOf(`${name}.b`)]
        for (let i = 0; i < rank * columns; i++)
          gradient[a + i] += ofA[i] * (gain === undefined ? 1 : current.data[gain + (i % columns)])
        for (let row = 0; row < rows; row++)
          for (let j = 0; j < rank; j++) gradient[b + row * rank + j] += ofB[j * rows + row] * factor
      }
    },
    clear() {
      for (const tensor of Object.values(arrays?.now.sums ?? {})) (tensor.data as Float32Array).fill(0)
    },
  }
}
