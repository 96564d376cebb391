/**
 * Eigenvalues [n] and, as columns, orthonormal eigenvectors [n, n] of a symmetric matrix, by cyclic Jacobi rotations
 * (Golub & Van Loan, section 8.5). The matrix is left as it is.
 */
export function symmetricEigen(
  matrix: Float64Array,
  n: number,
): { values: Float64Array; vectors: Float64Array } {
  const a = matrix.slice()
  const vectors = new Float64Array(n * n)
  for (let i = 0; i < n; i++) vectors[i * n + i] = 1
  let total = 0
  for (let i = 0; i < n * n; i++) total += a[i] * a[i]
  for (let sweep = 0; sweep < 30; sweep++) {
    let off = 0
    for (let p = 0; p < n; p++) for (let q = 0; q < p; q++) off += a[p * n + q] ** 2
    if (off <= 1e-24 * total) break
    for (let p = 0; p < n - 1; p++) for (let q = p + 1; q < n; q++) rotate(a, vectors, n, p, q)
  }
  return { values: Float64Array.from({ length: n }, (_, i) => a[i * n + i]), vectors }
}

/** One rotation, which makes the element (p, q) zero. */
function rotate(a: Float64Array, vectors: Float64Array, n: number, p: number, q: number): void {
  const apq = a[p * n + q]
  if (apq === 0) return
  const theta = (a[q * n + q] - a[p * n + p]) / (2 * apq)
  const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1))
  const c = 1 / Math.sqrt(t * t + 1)
  const s = t * c
  for (let k = 0; k < n; k++) {
    const left = a[k * n + p]
    const right = a[k * n + q]
    a[k * n + p] = c * left - s * right
    a[k * n + q] = s * left + c * right
    const v = vectors[k * n + p]
    const w = vectors[k * n + q]
    vectors[k * n + p] = c * v - s * w
    vectors[k * n + q] = s * v + c * w
  }
  for (let k = 0; k < n; k++) {
    const left = a[p * n + k]
    const right = a[q * n + k]
    a[p * n + k] = c * left - s * right
    a[q * n + k] = s * left + c * right
  }
}
