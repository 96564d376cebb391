import { globalNorm } from './clip.ts'
import { createOrthogonaliser } from './orthogonalise.ts'

/** A weight matrix [rows, columns] in its place, and what Muon remembers of it. */
export interface MuonMatrix {
  rows: number
  columns: number
  parameter: Float32Array
  gradient: Float32Array
  /** Starts at zero. */
  momentum: Float32Array
}

export interface MuonOptions {
  learningRate: number
  /** 0.95 unless told. */
  momentum?: number
  /** Decoupled, as in AdamW; 0 unless told. */
  weightDecay?: number
  /** The gradients are multiplied by this first; with 0 no step is taken. 1 unless told. */
  gradientScale?: number
}

export interface Muon {
  /**
   * One step over all matrices, in place.
   *
   * @returns whether it was taken: where a gradient has an entry that is not finite, or their scale is 0, no matrix and no momentum changes.
   */
  step(matrices: readonly MuonMatrix[], options: MuonOptions): Promise<boolean>
  release(): Promise<void>
}

/**
 * Muon (Jordan et al. 2024): the Nesterov momentum of a matrix, orthogonalised. The update is scaled by 0.2 sqrt(max(rows, columns)), so
 * that its root mean square is that of AdamW and one learning rate fits both (Liu et al. 2025, "Muon is scalable", arXiv:2502.16982).
 * Matrices of one shape are orthogonalised together.
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

/** Moves the momenta on and stacks `gradient + momentum * (new momentum)`. */
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
