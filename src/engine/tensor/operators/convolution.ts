import { shapeError } from '../shape.ts'
import type { Operations } from '../operations.ts'
import type { Attributes, Tensor } from '../types.ts'

export interface ConvolutionOptions {
  /** Steps between the places of the kernel, on both axes. By default 1. */
  stride?: number
  /** Zeros around the image, on all sides. By default 0. */
  padding?: number
  /** Distance between neighbouring weights of the kernel. By default 1. */
  dilation?: number
}

export interface Convolution {
  stride: number
  padding: number
  dilation: number
}

export const convolutionOf = (attributes: Attributes): Convolution => ({
  stride: attributes.stride as number,
  padding: attributes.padding as number,
  dilation: attributes.dilation as number,
})

export const withDefaults = ({
  stride = 1,
  padding = 0,
  dilation = 1,
}: ConvolutionOptions): Record<keyof Convolution, number> => ({ stride, padding, dilation })

/** Places of a kernel of `kernel` weights along an axis of `size`. */
export const placesOf = (size: number, kernel: number, { stride, padding, dilation }: Convolution): number =>
  Math.floor((size + 2 * padding - dilation * (kernel - 1) - 1) / stride) + 1

/** Height and width, which have to be numbers: only the number of images may be a symbol. */
export function imageSize(operator: string, inputs: readonly Tensor[], at: 0 | 1): [number, number] {
  const { shape, dtype } = inputs[at]
  const [height, width] = shape.slice(-2)
  if (shape.length !== 4 || dtype !== 'float32' || typeof height !== 'number' || typeof width !== 'number')
    throw shapeError(operator, inputs, 'float32 tensors of rank 4, the last two sizes numbers')
  return [height, width]
}

/** ONNX attributes of both directions. */
export const onnxAttributes = ({ stride, padding, dilation }: Convolution) => ({
  strides: { ints: [stride, stride] },
  pads: { ints: [padding, padding, padding, padding] },
  dilations: { ints: [dilation, dilation] },
})

/**
 * The gradient of the kernel [O, C, kh, kw], from the images x [N, C, h, w] and what comes down dy [N, O, oh, ow]: again a
 * convolution, of x by dy over the images, in which stride and dilation change places.
 */
export function kernelGradient(
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
  // Where the stride does not divide, the last rows and columns belong to no weight.
  const [height, width] = kernel.shape.slice(-2)
  const rows = t.slice(found, { axis: 2, end: height })
  return t.transpose(t.slice(rows, { axis: 3, end: width }), swap)
}
