import { AgogeError } from '../../error.ts'
import { dimValue, showShape } from './shape.ts'
import type { Bindings, DType, Feeds, HostTensor, Shape } from './node.ts'

export function dtypeOf({ data }: Pick<HostTensor, 'data'>): DType {
  if (data instanceof Float32Array) return 'float32'
  if (data instanceof Int32Array) return 'int32'
  return data instanceof Int8Array ? 'int8' : 'bool'
}

export interface InputSignature {
  name: string
  shape: Shape
  dtype: DType
}

const symbolic = /^[A-Za-z_]\w*$/

function fits(input: InputSignature, feed: HostTensor, bindings: Map<string, number>): boolean {
  const { shape, dtype } = input
  if (dtypeOf(feed) !== dtype || feed.shape.length !== shape.length) return false
  let size = 1
  for (let axis = 0; axis < shape.length; axis++) {
    const dim = shape[axis]
    const given = feed.shape[axis]
    size *= given
    if (typeof dim === 'number') {
      if (dim !== given) return false
    } else if (symbolic.test(dim)) {
      const known = bindings.get(dim)
      if (known === undefined) bindings.set(dim, given)
      else if (known !== given) return false
    }
  }
  return size === feed.data.length
}

/**
 * Determines the values of the symbols from the feeds.
 *
 * @throws AgogeError if an input is missing, or its type, size or shape differs from the declaration
 */
export function bindSizes(inputs: readonly InputSignature[], feeds: Feeds): Bindings {
  const bindings = new Map<string, number>()
  for (const input of inputs) {
    const { name, shape, dtype } = input
    const feed = feeds[name]
    if (feed !== undefined && fits(input, feed, bindings)) continue
    const wanted = `${dtype}${showShape(shape)}`
    if (feed === undefined)
      throw new AgogeError(`the input ${name} is missing`, {
        code: 'missing-input',
        given: Object.keys(feeds),
        expected: `${name}: ${wanted}`,
      })
    const given = `${dtypeOf(feed)}${showShape(feed.shape)} with ${feed.data.length} values`
    const sizes = [...bindings].map(([symbol, size]) => `${symbol} = ${size}`)
    throw new AgogeError(`the input ${name} is ${given}, not ${wanted}`, {
      code: 'shape-mismatch',
      given,
      expected: sizes.length === 0 ? wanted : `${wanted} where ${sizes.join(', ')}`,
    })
  }
  return checkProducts(inputs, feeds, bindings)
}

/** Checks sizes such as 'B*T' once B and T are known. */
function checkProducts(inputs: readonly InputSignature[], feeds: Feeds, bindings: Bindings): Bindings {
  for (const { name, shape } of inputs)
    for (let axis = 0; axis < shape.length; axis++) {
      const dim = shape[axis]
      if (typeof dim === 'number' || symbolic.test(dim)) continue
      const size = dimValue(dim, bindings)
      if (feeds[name].shape[axis] !== size)
        throw new AgogeError(
          `the input ${name} has ${feeds[name].shape[axis]} along axis ${axis}, not ${dim} = ${size}`,
          {
            code: 'shape-mismatch',
            given: feeds[name].shape,
            expected: showShape(shape),
          },
        )
    }
  return bindings
}
