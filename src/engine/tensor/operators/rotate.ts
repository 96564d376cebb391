import { makeNode, type Operator, type Tensor } from '../node.ts'
import { sameShape, shapeError } from '../shape.ts'
import { allocate } from './elementwise.ts'

export const rotateOperator: Operator = {
  name: 'rotate',
  infer: (inputs) => {
    const [x, positions, cosine, sine] = inputs
    const half = cosine.shape.at(-1)
    const width = x.shape.at(-1)
    const fits =
      x.shape.length === 3 &&
      positions.dtype === 'int32' &&
      sameShape(positions.shape, x.shape.slice(0, 2)) &&
      sameShape(cosine.shape, sine.shape) &&
      typeof half === 'number' &&
      typeof width === 'number' &&
      width % (2 * half) === 0
    if (!fits) {
      throw shapeError(
        'rotate',
        inputs,
        'x [B, T, heads * width], int32 positions [B, T], cosines and sines [positions, width / 2]',
      )
    }
    return { shape: x.shape, dtype: 'float32' }
  },
  lower: (context, node, [x, positions, cosine, sine]) => {
    const wide = context.emit('Cast', [positions], { to: { int: 7 } })
    const table = node.attributes.backwards === true ? context.emit('Neg', [sine]) : sine
    return context.emit('RotaryEmbedding', [x, wide, cosine, table], {}, 'com.microsoft')
  },
  evaluate: (node, [x, positions, cosine, sine], shape) => {
    const half = cosine.shape.at(-1)!
    const width = shape[2]
    const sign = node.attributes.backwards === true ? -1 : 1
    const data = allocate('float32', x.data.length)
    for (let row = 0; row < positions.data.length; row++) {
      const table = positions.data[row] * half
      for (let head = row * width; head < (row + 1) * width; head += 2 * half) {
        for (let i = 0; i < half; i++) {
          const left = x.data[head + i]
          const right = x.data[head + half + i]
          const c = cosine.data[table + i]
          const s = sign * sine.data[table + i]
          data[head + i] = left * c - right * s
          data[head + half + i] = right * c + left * s
        }
      }
    }
    return { data, shape }
  },
  gradient: (node, dy) => {
    const [, ...tables] = node.inputs
    const backwards = node.attributes.backwards !== true
    return [makeNode(rotateOperator, [dy, ...tables], { backwards }), undefined, undefined, undefined]
  },
}

/**
 * Rotary embedding (Su et al. 2021) in the order of Hugging Face's `rotate_half`. In each head of `x [B, T,
 * heads * width]` it rotates the pairs (i, i + width / 2). Row `positions [B, T]` of the tables [positions,
 * width / 2] has the cosines and sines of the angles. The tables get no gradient.
 */
export function rotate(x: Tensor, positions: Tensor, cosine: Tensor, sine: Tensor): Tensor {
  return makeNode(rotateOperator, [x, positions, cosine, sine], { backwards: false })
}

/** `rotate` by the opposite angles: its inverse and its transpose. */
export function rotateBack(x: Tensor, positions: Tensor, cosine: Tensor, sine: Tensor): Tensor {
  return makeNode(rotateOperator, [x, positions, cosine, sine], { backwards: true })
}
