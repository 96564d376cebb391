/** `layerNorm` as a plain loop: rows of x brought to mean 0 and variance 1, scaled and shifted, into `to`, which may be x. */
export function layerNormRows(
  x: Float32Array,
  rows: number,
  width: number,
  weight: Float32Array,
  bias: Float32Array,
  to: Float32Array,
): void {
  for (let r = 0; r < rows; r++) {
    const at = r * width
    let sum = 0
    for (let k = at; k < at + width; k++) sum += x[k]
    const centre = sum / width
    let squares = 0
    for (let k = at; k < at + width; k++) squares += (x[k] - centre) ** 2
    const scale = 1 / Math.sqrt(squares / width + 1e-5)
    for (let k = 0; k < width; k++) to[at + k] = (x[at + k] - centre) * scale * weight[k] + bias[k]
  }
}
