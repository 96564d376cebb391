import { squaresInChunks } from '../tensor/index.ts'

/** The Euclidean norm of all gradients taken as one vector, summed in double precision. */
export function globalNorm(gradients: Iterable<Float32Array>): number {
  let sum = 0
  for (const gradient of gradients) sum += squaresInChunks(gradient)
  return Math.sqrt(sum)
}

/**
 * The factor that brings gradients of this norm down to `limit`, and 1 where they are below it already (Pascanu et al. 2013; PyTorch's
 * `clip_grad_norm_`). Hand it to the optimiser as `gradientScale`. A norm that is not finite gives 0, and every optimiser here takes no step
 * with a scale of 0: parameters, moments and the count of steps stay as they are.
 */
export function clipScale(norm: number, limit: number): number {
  if (!Number.isFinite(norm)) return 0
  return Math.min(1, limit / (norm + 1e-6))
}
