/** Sizes of one layer of convolutions: pictures [channels, height, width] to [outputs, rows, columns]. */
export interface ConvShape {
  channels: number
  height: number
  width: number
  outputs: number
  kernel: number
  stride: number
  padding: number
  rows: number
  columns: number
}

/** Places of an axis of `size` whose input, `offset` further on in steps of `stride`, lies in the picture. */
function inside(size: number, places: number, offset: number, stride: number): [from: number, to: number] {
  const from = offset < 0 ? Math.ceil(-offset / stride) : 0
  return [from, Math.min(places, Math.floor((size - 1 - offset) / stride) + 1)]
}

/** to [pictures, outputs, rows, columns] = ReLU of the convolution of x with weight [outputs, channels, k, k], plus bias. */
export function convolveRows(
  x: Float32Array,
  weight: Float32Array,
  bias: Float32Array,
  shape: ConvShape,
  pictures: number,
  to: Float32Array,
): void {
  const { channels, height, width, outputs, kernel, stride, padding, rows, columns } = shape
  const area = rows * columns
  for (let p = 0; p < pictures; p++) {
    for (let o = 0; o < outputs; o++) {
      const start = (p * outputs + o) * area
      to.fill(bias[o], start, start + area)
      for (let c = 0; c < channels; c++) {
        const picture = (p * channels + c) * height * width
        for (let k = 0; k < kernel; k++) {
          const [top, bottom] = inside(height, rows, k - padding, stride)
          for (let l = 0; l < kernel; l++) {
            const factor = weight[((o * channels + c) * kernel + k) * kernel + l]
            const [left, right] = inside(width, columns, l - padding, stride)
            for (let i = top; i < bottom; i++) {
              const from = picture + (i * stride + k - padding) * width + l - padding
              const row = start + i * columns
              for (let j = left; j < right; j++) to[row + j] += factor * x[from + j * stride]
            }
          }
        }
      }
      for (let i = start; i < start + area; i++) if (to[i] < 0) to[i] = 0
    }
  }
}
