import { makeNode } from '../node.ts'
import { shapeError, sizeOf } from '../shape.ts'
import type { Operator, Tensor } from '../types.ts'
import {
  convolutionOf,
  imageSize,
  kernelGradient,
  onnxAttributes,
  placesOf,
  withDefaults,
} from './convolution.ts'
import type { ConvolutionOptions } from './convolution.ts'
import { allocate } from './elementwise.ts'

export const convTranspose2dOperator: Operator = {
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
 * The transpose of `conv2d` with the same options as a linear map of its images, which is its gradient.
 *
 * @param y [N, O, oh, ow]
 * @param kernel [O, C, kh, kw]
 * @param size height and width of the images that `conv2d` makes [oh, ow] of
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
