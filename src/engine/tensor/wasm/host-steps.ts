import { broadcastOffsets, dimValue, offsets, sizeOf, stridesOf } from '../shape.ts'
import type { Attributes, Bindings, Dim } from '../node.ts'

/** Inputs and output of a step: positions in an array of numbers that all values share, and shapes. */
export interface Place {
  readonly inputs: readonly { at: number; shape: readonly number[] }[]
  readonly out: number
  readonly shape: readonly number[]
}

type Step = (memory: Float32Array) => void
type MakeStep = (node: { attributes: Attributes }, place: Place, bindings: Bindings) => Step

/** The source of each element of the result. */
const gathered =
  (from: number, source: Int32Array, out: number): Step =>
  (memory) => {
    for (let i = 0; i < source.length; i++) memory[out + i] = memory[from + source[i]]
  }

const mapped =
  (f: (x: number) => number): MakeStep =>
  (_, { inputs: [x], out, shape }) => {
    const size = sizeOf(shape)
    return (memory) => {
      for (let i = 0; i < size; i++) memory[out + i] = f(memory[x.at + i])
    }
  }

/** Sizes of the axes before, among and after the reduced ones, which are adjacent. */
export function reducedSizes(axes: readonly number[], shape: readonly number[]): [number, number, number] {
  const [first, last] = [axes[0], axes.at(-1)!]
  return [sizeOf(shape.slice(0, first)), sizeOf(shape.slice(first, last + 1)), sizeOf(shape.slice(last + 1))]
}

const reduced =
  (start: number, combine: (total: number, value: number) => number, isMean = false): MakeStep =>
  (node, { inputs: [x], out }) => {
    const [outer, middle, inner] = reducedSizes(node.attributes.axes as readonly number[], x.shape)
    const scale = isMean ? 1 / middle : 1
    return (memory) => {
      for (let o = 0; o < outer; o++) {
        for (let i = 0; i < inner; i++) {
          const at = x.at + o * middle * inner + i
          let total = start
          for (let m = 0; m < middle; m++) total = combine(total, memory[at + m * inner])
          memory[out + o * inner + i] = total * scale
        }
      }
    }
  }

const take: MakeStep = (_, { inputs: [x, indices], out, shape }) => {
  const width = x.shape.at(-1)!
  const rows = sizeOf(shape)
  return (memory) => {
    for (let r = 0; r < rows; r++) memory[out + r] = memory[x.at + r * width + memory[indices.at + r]]
  }
}

const scatter: MakeStep = (_, { inputs: [base, indices, values], out, shape }) => {
  const width = shape.at(-1)!
  const size = sizeOf(shape)
  return (memory) => {
    memory.copyWithin(out, base.at, base.at + size)
    for (let r = 0, at = out; at < out + size; r++, at += width)
      memory[at + memory[indices.at + r]] += memory[values.at + r]
  }
}

const sliced: MakeStep = (node, { inputs: [x], out, shape }, bindings) => {
  const axis = node.attributes.axis as number
  const strides = stridesOf(x.shape)
  const start = dimValue(node.attributes.start as Dim, bindings) * strides[axis]
  return gathered(x.at + start, offsets(shape, strides), out)
}

const padded: MakeStep = (node, { inputs: [x], out, shape }, bindings) => {
  const strides = stridesOf(shape)
  const start = dimValue(node.attributes.before as Dim, bindings) * strides[node.attributes.axis as number]
  const target = offsets(x.shape, strides)
  const size = sizeOf(shape)
  return (memory) => {
    memory.fill(0, out, out + size)
    for (let i = 0; i < target.length; i++) memory[out + start + target[i]] = memory[x.at + i]
  }
}

const joined: MakeStep = (node, { inputs, out, shape }) => {
  const axis = node.attributes.axis as number
  const row = sizeOf(shape.slice(axis))
  let start = out
  const parts = inputs.map(({ at, shape: own }) => {
    const width = sizeOf(own.slice(axis))
    start += width
    return { at, width, to: start - width }
  })
  const rows = sizeOf(shape.slice(0, axis))
  return (memory) => {
    for (const { at, width, to } of parts)
      for (let r = 0; r < rows; r++)
        for (let i = 0; i < width; i++) memory[to + r * row + i] = memory[at + r * width + i]
  }
}

/** Operators over arrays that are always small, as plain loops, by name. */
export const hostSteps: Readonly<Record<string, MakeStep>> = {
  sin: mapped(Math.sin),
  cos: mapped(Math.cos),
  sum: reduced(0, (total, value) => total + value),
  mean: reduced(0, (total, value) => total + value, true),
  max: reduced(-Infinity, Math.max),
  takeAlong: take,
  scatterAlong: scatter,
  slice: sliced,
  pad: padded,
  concat: joined,
  broadcastTo: (_, { inputs: [x], out, shape }) => gathered(x.at, broadcastOffsets(x.shape, shape), out),
  transpose(node, { inputs: [x], out, shape }) {
    const strides = stridesOf(x.shape)
    const permutation = node.attributes.permutation as readonly number[]
    return gathered(
      x.at,
      offsets(
        shape,
        permutation.map((axis) => strides[axis]),
      ),
      out,
    )
  },
  iota:
    (_, { out, shape }) =>
    (memory) => {
      for (let i = 0; i < shape[0]; i++) memory[out + i] = i
    },
}
