import { orthogonal, type ParameterSpec } from '../../engine/nn/index.ts'
import { add, conv2d, mul, relu, reshape } from '../../engine/tensor/index.ts'
import { AgogeError } from '../../error.ts'
import type { ArraySpace } from '../environment/index.ts'
import type { Network } from './mlp.ts'

/** Sizes of a convolution layer: images [channels, height, width] to [outputs, rows, columns]. */
interface ConvShape {
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

/** The range of outputs on an axis of length `size` whose input, at `offset` with this stride, lies inside the image. */
function inside(size: number, places: number, offset: number, stride: number): [from: number, to: number] {
  const from = offset < 0 ? Math.ceil(-offset / stride) : 0
  return [from, Math.min(places, Math.floor((size - 1 - offset) / stride) + 1)]
}

/** to [images, outputs, rows, columns] = ReLU(convolution of x with weight [outputs, channels, k, k] + bias). */
function convolveRows(
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

/** A convolution layer, followed by a ReLU. */
export interface ConvLayer {
  channels: number
  /** Height and width of the kernel. */
  kernel: number
  /** Default: 1. */
  stride?: number
  /** Width of the zero padding. Default: 0. */
  padding?: number
}

/** For small images, such as the views of grid environments. */
const small: readonly ConvLayer[] = [
  { channels: 16, kernel: 3, padding: 1 },
  { channels: 32, kernel: 3, padding: 1, stride: 2 },
]

/**
 * Convolutions with ReLU over image observations: boxes whose last two axes are height and width. All axes
 * before them are channels. Bytes are scaled to [0, 1]. The output is the flattened last layer.
 *
 * @throws AgogeError `unsupported-space` for other observations, or for images smaller than a kernel
 */
export function cnnNetwork(
  space: ArraySpace,
  { layers = small, prefix }: { layers?: readonly ConvLayer[] | undefined; prefix: string },
): Network {
  const [channels, height, width] = pictureOf(space)
  const scale = space.type === 'box' && space.dtype === 'uint8' ? 1 / 255 : 1
  const shapes: ConvShape[] = []
  for (const { channels: outputs, kernel, stride = 1, padding = 0 } of layers) {
    const last = shapes.at(-1) ?? { outputs: channels, rows: height, columns: width }
    const places = (size: number): number => Math.floor((size + 2 * padding - kernel) / stride) + 1
    const rows = places(last.rows)
    const columns = places(last.columns)
    if (rows < 1 || columns < 1) throw noPicture(`${height}x${width}`, 'a picture as large as the kernels')
    shapes.push({
      channels: last.outputs,
      height: last.rows,
      width: last.columns,
      outputs,
      kernel,
      stride,
      padding,
      rows,
      columns,
    })
  }
  const inputs = channels * height * width
  const { outputs: kernels, rows: high, columns: wide } = shapes[shapes.length - 1]
  const name = (i: number): string => `${prefix}conv${i}`
  const specs: Record<string, ParameterSpec> = {}
  for (const [i, { channels: from, outputs: to, kernel }] of shapes.entries()) {
    specs[`${name(i)}.weight`] = {
      shape: [to, from, kernel, kernel],
      initialise: (random) => orthogonal(random, to, from * kernel * kernel, Math.SQRT2),
    }
    specs[`${name(i)}.bias`] = { shape: [to], initialise: () => new Float32Array(to) }
  }
  const largest = Math.max(inputs, ...shapes.map(({ outputs, rows, columns }) => outputs * rows * columns))
  let scratch = [new Float32Array(0), new Float32Array(0)]
  return {
    inputs,
    outputs: kernels * high * wide,
    specs,
    trace(parameters, x) {
      const [batch] = x.shape
      let h = reshape(scale === 1 ? x : mul(x, scale), [batch, channels, height, width])
      for (const [i, { outputs, stride, padding }] of shapes.entries()) {
        const bias = reshape(parameters[`${name(i)}.bias`], [outputs, 1, 1])
        h = relu(add(conv2d(h, parameters[`${name(i)}.weight`], { stride, padding }), bias))
      }
      return reshape(h, [batch, kernels * high * wide])
    },
    forward({ views }, x, rows, out) {
      if (scratch[0].length < rows * largest)
        scratch = [new Float32Array(rows * largest), new Float32Array(rows * largest)]
      let from = x
      if (scale !== 1) {
        from = scratch[1]
        for (let k = 0; k < rows * inputs; k++) from[k] = x[k] * scale
      }
      for (const [i, shape] of shapes.entries()) {
        const to = i === shapes.length - 1 ? out : scratch[i % 2]
        convolveRows(from, views[`${name(i)}.weight`], views[`${name(i)}.bias`], shape, rows, to)
        from = to
      }
    },
  }
}

function pictureOf(space: ArraySpace): [channels: number, height: number, width: number] {
  if (space.type !== 'box' || space.shape.length < 2) {
    const given = space.type === 'box' ? `a box of shape [${space.shape.join(', ')}]` : space.type
    throw noPicture(given, 'a box whose last two axes are height and width')
  }
  const [height, width] = space.shape.slice(-2)
  return [space.shape.slice(0, -2).reduce((product, n) => product * n, 1), height, width]
}

const noPicture = (given: string, expected: string): AgogeError =>
  new AgogeError('convolutions need observations that are pictures', {
    code: 'unsupported-space',
    given,
    expected,
    hint: "use the encoder { kind: 'mlp' }, or other layers",
  })
