import { add, div, maximum, minimum, mul, pow, sub } from './operators/binary.ts'
import { broadcastTo } from './operators/broadcast-to.ts'
import { cast } from './operators/cast.ts'
import { and, equal, greater, less, not } from './operators/compare.ts'
import { concat } from './operators/concat.ts'
import { constant } from './operators/constant.ts'
import { conv2d } from './operators/conv2d.ts'
import { convTranspose2d } from './operators/conv-transpose2d.ts'
import { gather, scatterRows } from './operators/gather.ts'
import { iota } from './operators/iota.ts'
import { matmul } from './operators/matmul.ts'
import { max, mean, sum } from './operators/reduce.ts'
import { reshape } from './operators/reshape.ts'
import { rmsNormalise } from './operators/rms-normalise.ts'
import { rotate } from './operators/rotate.ts'
import { pad, slice } from './operators/slice.ts'
import { logSoftmax, softmax } from './operators/softmax.ts'
import { stopGradient } from './operators/stop-gradient.ts'
import { sumTo } from './operators/sum-to.ts'
import { scatterAlong, takeAlong } from './operators/take-along.ts'
import { transpose } from './operators/transpose.ts'
import {
  abs,
  cos,
  exp,
  log,
  neg,
  relu,
  rsqrt,
  sigmoid,
  sign,
  silu,
  sin,
  sqrt,
  square,
  tanh,
} from './operators/unary.ts'
import { where } from './operators/where.ts'
import { zeros } from './operators/zeros.ts'

/**
 * All operators as functions over tensors. Gradient rules are handed this record instead of importing one
 * another: the derivative of a product needs sums and that of a sum needs products.
 */
export const operations = {
  abs,
  add,
  and,
  broadcastTo,
  cast,
  concat,
  constant,
  conv2d,
  convTranspose2d,
  cos,
  div,
  equal,
  exp,
  gather,
  greater,
  iota,
  less,
  log,
  logSoftmax,
  matmul,
  max,
  maximum,
  mean,
  minimum,
  mul,
  neg,
  not,
  pad,
  pow,
  relu,
  reshape,
  rmsNormalise,
  rotate,
  rsqrt,
  scatterAlong,
  scatterRows,
  sigmoid,
  sign,
  silu,
  sin,
  slice,
  softmax,
  sqrt,
  square,
  stopGradient,
  sub,
  sum,
  sumTo,
  takeAlong,
  tanh,
  transpose,
  where,
  zeros,
}

export type Operations = typeof operations
