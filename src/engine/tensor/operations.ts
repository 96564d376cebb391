import { add, div, maximum, minimum, mul, pow, sub } from './operators/binary.ts'
import { broadcastTo, reshape, transpose } from './operators/reshape.ts'
import {
  abs,
  cast,
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
  stopGradient,
  tanh,
} from './operators/unary.ts'
import { and, equal, greater, less, not, where } from './operators/compare.ts'
import { concat, pad, slice } from './operators/slice.ts'
import { constant, iota, zeros } from './operators/constant.ts'
import { conv2d, convTranspose2d } from './operators/convolution.ts'
import { gather, scatterAlong, scatterRows, takeAlong } from './operators/gather.ts'
import { matmul } from './operators/matmul.ts'
import { max, mean, sum, sumTo } from './operators/reduce.ts'
import { logSoftmax, rmsNormalise, softmax } from './operators/normalise.ts'
import { rotate } from './operators/rotate.ts'

/**
 * All operators as functions over tensors. Gradient rules get this record, because they would otherwise import
 * each other in a cycle: the gradient of a product needs sums, and that of a sum needs products.
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
