export type { DType, Dim, Feeds, HostData, HostTensor, Operand, Operator, Shape, Tensor } from './node.ts'
export { constant, iota } from './operators/constant.ts'
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
  cast,
  stopGradient,
} from './operators/elementwise.ts'
export { add, div, maximum, minimum, mul, pow, sub } from './operators/binary.ts'
export { and, equal, greater, less, not, where } from './operators/compare.ts'
export { matmul, quantisedMatmul, quantiseMatrix } from './operators/matmul.ts'
export { conv2d, convTranspose2d } from './operators/convolution.ts'
export type { ConvolutionOptions } from './operators/convolution.ts'
export { transpose, reshape, broadcastTo } from './operators/reshape.ts'
export { max, mean, sum } from './operators/reduce.ts'
export { logSoftmax, softmax, rmsNormalise, rmsNormaliseWithScale } from './operators/normalise.ts'
export { concat, pad, slice } from './operators/slice.ts'
export { gather, takeAlong } from './operators/gather.ts'
export { rotate, rotateBack } from './operators/rotate.ts'
export { gradients } from './gradients.ts'
export { evaluateTensors } from './evaluate.ts'
export { compile, defaultThreads } from './compile.ts'
export { compileStack } from './stack.ts'
export { toOnnx } from './onnx/lower.ts'
export { defaultDevice, devices } from './onnx/session.ts'
export type { Device } from './onnx/session.ts'
export type { CompileOptions, InputSpec, Program } from './compile.ts'
export { compileForSize, smallProgram } from './wasm/small-program.ts'
export type { SizedProgram, SmallProgram, SmallProgramOptions } from './wasm/small-program.ts'
export { createHelper, sharedArray, startWorker, startThread } from './helper/helper.ts'
export type { Helper, PairedWorker } from './helper/helper.ts'
export { adamInChunks, squaresInChunks, addInChunks, foldInChunks, unfoldInChunks } from './wasm/chunks.ts'
export { adamMachine } from './wasm/adam.ts'
export type { AdamMachine, AdamNumbers } from './wasm/adam.ts'
/** For modules with their own kernels, such as environments. */
export * as assembly from './wasm/assembler.ts'
export { instantiate } from './wasm/plan.ts'
export type { Kernel, Machine } from './wasm/plan.ts'
export { matrixProducts } from './wasm/matrix-products.ts'
