import { defined } from '../../../defined.ts'
import { broadcastOffsets, broadcastShapes, sameShape, shapeError, sizeOf } from '../shape.ts'
import type { DType, Operator, Value } from '../node.ts'

interface Elementwise {
  name: string
  /** The ONNX operator, if a single one is enough. */
  onnx: string
  arity: 1 | 2
  accepts: readonly DType[]
  /** Type of the result. Default: that of the inputs. */
  result?: DType
  compute: (a: number, b: number) => number
  gradient?: Operator['gradient']
  lower?: Operator['lower']
}

export function allocate(dtype: DType, size: number): Value['data'] {
  if (dtype === 'float32') return new Float64Array(size)
  if (dtype === 'int32') return new Int32Array(size)
  return dtype === 'int8' ? new Int8Array(size) : new Uint8Array(size)
}

/** Defines an elementwise operator with broadcasting. */
export function elementwise(definition: Elementwise): Operator {
  const { name, onnx, arity, accepts, result, compute } = definition
  return {
    name,
    infer: (inputs) => {
      const [first] = inputs
      if (
        inputs.length !== arity ||
        inputs.some((x) => x.dtype !== first.dtype || !accepts.includes(x.dtype))
      )
        throw shapeError(name, inputs, `${arity} input(s) of one type, ${accepts.join(' or ')}`)
      return { shape: broadcastShapes(name, inputs), dtype: result ?? first.dtype }
    },
    lower: definition.lower ?? ((context, _, inputs) => context.emit(onnx, inputs)),
    evaluate: (node, inputs, shape) => {
      const size = sizeOf(shape)
      const data = allocate(node.dtype, size)
      const [a, b] = inputs
      if (b === undefined || (sameShape(a.shape, shape) && sameShape(b.shape, shape)))
        for (let i = 0; i < size; i++) data[i] = compute(a.data[i], b === undefined ? 0 : b.data[i])
      else {
        const left = broadcastOffsets(a.shape, shape)
        const right = broadcastOffsets(b.shape, shape)
        for (let i = 0; i < size; i++) data[i] = compute(a.data[left[i]], b.data[right[i]])
      }
      return { data, shape }
    },
    ...defined({ gradient: definition.gradient }),
  }
}
