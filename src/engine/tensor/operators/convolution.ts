import { type Attributes, makeNode, type Operator, type Tensor } from '../node.ts'
import type { Operations } from '../gradients.ts'
import { shapeError, sizeOf } from '../shape.ts'
import { allocate } from './elementwise.ts'

/** Options of `conv2d` and `convTranspose2d`. */
export interface ConvolutionOptions {
  /** Stride on both axes. Default: 1. */
  stride?: number
  /** Width of the zero padding on all sides. Default: 0. */
  padding?: number
  /** Distance between neighbouring weights of the kernel. Default: 1. */
  dilation?: number
}

interface Convolution {
  stride: number
  padding: number
  dilation: number
}

const convolutionOf = (attributes: Attributes): Convolution => ({
  stride: attributes.stride as number,
  padding: attributes.padding as number,
  dilation: attributes.dilation as number,
})

const withDefaults = ({
  stride = 1,
  padding = 0,
  dilation = 1,
}: ConvolutionOptions): Record<keyof Convolution, number> => ({ stride, padding, dilation })

/** Number of positions of a kernel of `kernel` weights along an axis of `size`. */
const placesOf = (size: number, kernel: number, { stride, padding, dilation }: Convolution): number =>
  Math.floor((size + 2 * padding - dilation * (kernel - 1) - 1) / stride) + 1

/** Height and width. They must be numbers; only the number of images may be a symbol. */
function imageSize(operator: string, inputs: readonly Tensor[], at: 0 | 1): [number, number] {
  const { shape, dtype } = inputs[at]
  const [height, width] = shape.slice(-2)
  if (shape.length !== 4 || dtype !== 'float32' || typeof height !== 'number' || typeof width !== 'number')
    throw shapeError(operator, inputs, 'float32 tensors of rank 4, the last two sizes numbers')
  return [height, width]
}

/** ONNX attributes of both directions. */
const onnxAttributes = ({ stride, padding, dilation }: Convolution) => ({
  strides: { ints: [stride, stride] },
  pads: { ints: [padding, padding, padding, padding] },
  dilations: { ints: [dilation, dilation] },
})

/**
 * The gradient of the kernel [O, C, kh, kw], from the images x [N, C, h, w] and the gradient of the result dy
 * [N, O, oh, ow]. It is a convolution of x by dy over the images, with stride and dilation swapped.
 */
function kernelGradient(
  t: Operations,
  x: Tensor,
  dy: Tensor,
  kernel: Tensor,
  { stride, padding, dilation }: Convolution,
): Tensor {
  const swap = [1, 0, 2, 3]
  const found = t.conv2d(t.transpose(x, swap), t.transpose(dy, swap), {
    stride: dilation,
    padding,
    dilation: stride,
  })
  // If the stride does not divide the size, the last rows and columns belong to no weight.
  const [height, width] = kernel.shape.slice(-2)
  const rows = t.slice(found, { axis: 2, end: height })
  return t.transpose(t.slice(rows, { axis: 3, end: width }), swap)
}

const conv2dOperator: Operator = {
  name: 'conv2d',
  infer: (inputs, attributes) => {
    const [x, kernel] = inputs
    const size = imageSize('conv2d', inputs, 0)
    const weights = imageSize('conv2d', inputs, 1)
    if (x.shape[1] !== kernel.shape[1])
      throw shapeError('conv2d', inputs, 'x [N, C, h, w] and a kernel [O, C, kh, kw] of as many channels')
    const places = size.map((length, axis) => placesOf(length, weights[axis], convolutionOf(attributes)))
    if (places.some((count) => count < 1)) throw shapeError('conv2d', inputs, 'images as large as the kernel')
    return { shape: [x.shape[0], kernel.shape[0], ...places], dtype: 'float32' }
  },
  lower: (context, node, inputs) =>
    context.emit('Conv', inputs, onnxAttributes(convolutionOf(node.attributes))),
  evaluate: (node, [x, kernel], shape) => {
    const { stride, padding, dilation } = convolutionOf(node.attributes)
    const [images, outputs, rows, columns] = shape
    const [, channels, height, width] = x.shape
    const [kernelHeight, kernelWidth] = kernel.shape.slice(-2)
    const data = allocate('float32', sizeOf(shape))
    for (let n = 0, out = 0; n < images; n++)
      for (let o = 0; o < outputs; o++)
        for (let i = 0; i < rows; i++)
          for (let j = 0; j < columns; j++) {
            let total = 0
            for (let c = 0; c < channels; c++)
              for (let k = 0; k < kernelHeight; k++)
                for (let l = 0; l < kernelWidth; l++) {
                  const y = i * stride + k * dilation - padding
                  const z = j * stride + l * dilation - padding
                  if (y < 0 || y >= height || z < 0 || z >= width) continue
                  total +=
                    x.data[((n * channels + c) * height + y) * width + z] *
                    kernel.data[((o * channels + c) * kernelHeight + k) * kernelWidth + l]
                }
            data[out++] = total
          }
    return { data, shape }
  },
  gradient: (node, dy, t) => {
    const [x, kernel] = node.inputs
    const convolution = convolutionOf(node.attributes)
    return [
      t.convTranspose2d(dy, kernel, imageSize('conv2d', node.inputs, 0), convolution),
      kernelGradient(t, x, dy, kernel, convolution),
    ]
  },
}

/**
 * Cross-correlation of images with a kernel, as PyTorch's `conv2d` without bias.
 *
 * @param x [N, C, h, w]
 * @param kernel [O, C, kh, kw]
 * @returns [N, O, (h + 2 padding - dilation (kh - 1) - 1) / stride + 1, ...], rounded down
 */
export function conv2d(x: Tensor, kernel: Tensor, options: ConvolutionOptions = {}): Tensor {
  return makeNode(conv2dOperator, [x, kernel], withDefaults(options))
}

const convTranspose2dOperator: Operator = {
  name: 'convTranspose2d',
  infer: (inputs, attributes) => {
    const [y, kernel] = inputs
    const size = attributes.size as readonly number[]
    const places = imageSize('convTranspose2d', inputs, 0)
    const weights = imageSize('convTranspose2d', inputs, 1)
    const fits = places.every(
      (count, axis) => count === placesOf(size[axis], weights[axis], convolutionOf(attributes)),
    )
    if (y.shape[1] !== kernel.shape[0] || !fits)
      throw shapeError('convTranspose2d', inputs, `what conv2d makes of images of ${size.join(' x ')}`)
    return { shape: [y.shape[0], kernel.shape[1], ...size], dtype: 'float32' }
  },
  lower: (context, node, inputs) => {
    const convolution = convolutionOf(node.attributes)
    const { stride, padding, dilation } = convolution
    const [places, weights] = node.inputs.map(({ shape }) => shape.slice(-2) as number[])
    const size = node.attributes.size as readonly number[]
    const rest = size.map(
      (length, axis) =>
        length - ((places[axis] - 1) * stride - 2 * padding + dilation * (weights[axis] - 1) + 1),
    )
    return context.emit('ConvTranspose', inputs, {
      ...onnxAttributes(convolution),
      output_padding: { ints: rest },
    })
  },
  evaluate: (node, [y, kernel], shape) => {
    const { stride, padding, dilation } = convolutionOf(node.attributes)
    const [images, channels, height, width] = shape
    const [, outputs, rows, columns] = y.shape
    const [kernelHeight, kernelWidth] = kernel.shape.slice(-2)
    const data = allocate('float32', sizeOf(shape))
    for (let n = 0, at = 0; n < images; n++)
      for (let o = 0; o < outputs; o++)
        for (let i = 0; i < rows; i++)
          for (let j = 0; j < columns; j++, at++)
            for (let c = 0; c < channels; c++)
              for (let k = 0; k < kernelHeight; k++)
                for (let l = 0; l < kernelWidth; l++) {
                  const row = i * stride + k * dilation - padding
                  const column = j * stride + l * dilation - padding
                  if (row < 0 || row >= height || column < 0 || column >= width) continue
                  data[((n * channels + c) * height + row) * width + column] +=
                    y.data[at] * kernel.data[((o * channels + c) * kernelHeight + k) * kernelWidth + l]
                }
    return { data, shape }
  },
  gradient: (node, dx, t) => {
    const [y, kernel] = node.inputs
    const convolution = convolutionOf(node.attributes)
    return [t.conv2d(dx, kernel, convolution), kernelGradient(t, dx, y, kernel, convolution)]
  },
}

/**
 * The transpose of `conv2d` with the same options, as a linear map of its images. This is its gradient.
 *
 * @param y [N, O, oh, ow]
 * @param kernel [O, C, kh, kw]
 * @param size height and width of the images of the corresponding `conv2d`
 * @returns [N, C, ...size]
 */
export function convTranspose2d(
  y: Tensor,
  kernel: Tensor,
  size: readonly [height: number, width: number],
  options: ConvolutionOptions = {},
): Tensor {
  return makeNode(convTranspose2dOperator, [y, kernel], { ...withDefaults(options), size: [...size] })
}
