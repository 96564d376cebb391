import { rowSize } from '../environment/index.ts'
import type { ArraySpace } from '../environment/index.ts'
import { add, cast, concat, equal, iota, reshape, slice } from '../../engine/tensor/index.ts'
import type { Tensor } from '../../engine/tensor/index.ts'
import { encoderNetwork } from './encoder.ts'
import type { Encoder } from './encoder.ts'
import { checkRows, placeOf } from './check-rows.ts'
import { chain } from './network.ts'
import type { Network } from './network.ts'

/**
 * A network over the observations of a space. Choices enter as one-hot rows, for their numbers have no order; `make`
 * is told how many inputs that gives. Boxes and bits enter as they are. With a body, `make` is told what that puts out;
 * its parameters are called `PREFIXbody.`.
 *
 * `forward` throws an AgogeError for observations of another width (`shape-mismatch`) or choice (`not-in-space`).
 */
export function overObservations(
  space: ArraySpace,
  make: (inputs: number) => Network,
  { encoder, prefix = '' }: { encoder?: Encoder | undefined; prefix?: string } = {},
): Network {
  const network = encoded(space, (inputs) => {
    const front = encoder && encoderNetwork(encoder, space, { inputs, prefix: `${prefix}body.` })
    return front === undefined ? make(inputs) : chain(front, make(front.outputs))
  })
  return {
    ...network,
    forward(parameters, x, rows, out) {
      checkRows(x, rows, network.inputs)
      network.forward(parameters, x, rows, out)
    },
  }
}

function encoded(space: ArraySpace, make: (inputs: number) => Network): Network {
  if (space.type === 'box' || space.type === 'multi-binary') return make(rowSize(space))
  const counts = space.type === 'discrete' ? [space.n] : space.counts
  const start = space.type === 'discrete' ? space.start : 0
  const total = counts.reduce((sum, n) => sum + n, 0)
  const inner = make(total)
  let scratch = new Float32Array(0)
  return {
    inputs: counts.length,
    outputs: inner.outputs,
    specs: inner.specs,
    trace: (parameters, x) =>
      inner.trace(
        parameters,
        concat(
          counts.map((n, i) => oneHot(slice(x, { axis: 1, start: i, end: i + 1 }), n, start)),
          1,
        ),
      ),
    forward(parameters, x, rows, out) {
      if (scratch.length < rows * total) scratch = new Float32Array(rows * total)
      scratch.fill(0, 0, rows * total)
      for (let r = 0; r < rows; r++) {
        let offset = r * total
        for (let i = 0; i < counts.length; i++) {
          scratch[offset + placeOf(space, x[r * counts.length + i], i)] = 1
          offset += counts[i]
        }
      }
      inner.forward(parameters, scratch, rows, out)
    },
  }
}

/** x [B, 1] of choices from `start` on, to [B, n]. */
const oneHot = (x: Tensor, n: number, start: number): Tensor =>
  cast(equal(x, add(reshape(cast(iota(n), 'float32'), [1, n]), start)), 'float32')
