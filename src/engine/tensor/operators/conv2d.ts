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

export const conv2dOperator: Operator = {
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
 * Cross-correlation of images with a kernel, as in PyTorch's `conv2d` without bias.
 *
 * @param x [N, C, h, w]
 * @param kernel [O, C, kh, kw]
 * @returns [N, O, (h + 2 padding - dilation (kh - 1) - 1) / stride + 1, ...], rounded down
 */
export function conv2d(x: Tensor, kernel: Tensor, options: ConvolutionOptions = {}): Tensor {
  return makeNode(conv2dOperator, [x, kernel], withDefaults(options))
}
