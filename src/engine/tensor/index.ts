export type { DType, Dim, Feeds, HostData, HostTensor, Operand, Operator, Shape, Tensor } from './types.ts'
export { constant } from './operators/constant.ts'
export { iota } from './operators/iota.ts'
export {
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
export { add, div, maximum, minimum, mul, pow, sub } from './operators/binary.ts'
export { and, equal, greater, less, not } from './operators/compare.ts'
export { where } from './operators/where.ts'
export { cast } from './operators/cast.ts'
export { matmul } from './operators/matmul.ts'
export { quantisedMatmul } from './operators/quantised-matmul.ts'
export { quantiseMatrix } from './quantise-matrix.ts'
export { conv2d } from './operators/conv2d.ts'
export { convTranspose2d } from './operators/conv-transpose2d.ts'
export type { ConvolutionOptions } from './operators/convolution.ts'
export { transpose } from './operators/transpose.ts'
export { reshape } from './operators/reshape.ts'
export { max, mean, sum } from './operators/reduce.ts'
export { logSoftmax, softmax } from './operators/softmax.ts'
export { broadcastTo } from './operators/broadcast-to.ts'
export { concat } from './operators/concat.ts'
export { pad, slice } from './operators/slice.ts'
export { gather } from './operators/gather.ts'
export { rmsNormalise, rmsNormaliseWithScale } from './operators/rms-normalise.ts'
export { rotate, rotateBack } from './operators/rotate.ts'
export { takeAlong } from './operators/take-along.ts'
export { stopGradient } from './operators/stop-gradient.ts'
export { gradients } from './gradients.ts'
export { evaluate } from './evaluate.ts'
export { compile, defaultThreads } from './compile.ts'
export { toOnnx } from './onnx/to-onnx.ts'
export { defaultDevice, devices } from './onnx/device.ts'
export type { Device } from './onnx/device.ts'
export type { CompileOptions, InputSpec, Program } from './compile.ts'
export { compileForSize } from './wasm/compile-for-size.ts'
export type { SizedProgram } from './wasm/compile-for-size.ts'
export { createHelper, sharedArray } from './helper/helper.ts'
export type { Helper } from './helper/helper.ts'
export { startWorker } from './helper/paired-worker.ts'
export type { PairedWorker } from './helper/paired-worker.ts'
export { startThread } from './helper/start-thread.ts'
export { smallProgram } from './wasm/small-program.ts'
export type { SmallProgram, SmallProgramOptions } from './wasm/small-program.ts'
export { adamInChunks, squaresInChunks } from './wasm/adam-chunks.ts'
export { addInChunks, foldInChunks, unfoldInChunks } from './wasm/row-chunks.ts'
export { adamMachine } from './wasm/adam-machine.ts'
export type { AdamMachine, AdamNumbers } from './wasm/adam-machine.ts'
/** For environments and others that have kernels of their own. */
export * as assembly from './wasm/assembler.ts'
export { instantiate } from './wasm/instantiate.ts'
export type { Kernel, Machine } from './wasm/instantiate.ts'
export { matrixProducts } from './wasm/matrix-products.ts'
