/** Programs over arrays: random streams, tensors with gradients, and the parts of neural networks. Knows no reinforcement learning. */
export { createAdam } from './nn/adam.ts'
export type { Adam, AdamInPlace, AdamOptions, AdamState } from './nn/adam.ts'
export { adamWStep, createAdamMoments } from './nn/adamw.ts'
export type { AdamMoments, AdamWOptions } from './nn/adamw.ts'
export { clipScale, globalNorm } from './nn/clip.ts'
export { glorotUniform, heNormal, normalValues, orthogonal, uniformValues } from './nn/initialise.ts'
export { embedding, layerNorm, linear, mlp, rmsNorm } from './nn/layers.ts'
export type { Activation, LinearParameters } from './nn/layers.ts'
export { createMuon } from './nn/muon.ts'
export type { Muon, MuonMatrix, MuonOptions } from './nn/muon.ts'
export { compileObjective } from './nn/objective.ts'
export type { Objective, ObjectiveSpec } from './nn/objective.ts'
export { createOrthogonaliser, newtonSchulz } from './nn/orthogonalise.ts'
export type { Orthogonaliser } from './nn/orthogonalise.ts'
export {
  countParameters,
  createParameters,
  moveTowards,
  parameterFeeds,
  zeroParameters,
} from './nn/parameters.ts'
export type { ParameterSet, ParameterSpec } from './nn/parameters.ts'
export { createRAdam } from './nn/radam.ts'
export { createRmsProp } from './nn/rmsprop.ts'
export type { RmsProp, RmsPropOptions, RmsPropState } from './nn/rmsprop.ts'
export {
  decodeTensor,
  readSafetensors,
  readSafetensorsHeader,
  safetensorsHeaderBytes,
  writeSafetensors,
} from './nn/safetensors.ts'
export type {
  SafetensorsFile,
  SafetensorsHeader,
  StoredTensor,
  StoredType,
  TensorPlace,
} from './nn/safetensors.ts'
export { constantSchedule, cosineDecay, linearDecay, warmUp, warmUpStableDecay } from './nn/schedules.ts'
export type { DecayOptions, Schedule } from './nn/schedules.ts'
export { hash32, uniformAt } from './random/hash.ts'
export type { RandomKey } from './random/hash.ts'
export { createPcg64 } from './random/pcg64.ts'
export type { Pcg64, Pcg64State } from './random/pcg64.ts'
export { createRandom } from './random/random.ts'
export type { Random, RandomState } from './random/random.ts'
export { compile, defaultThreads } from './tensor/compile.ts'
export type { CompileOptions, InputSpec, Program } from './tensor/compile.ts'
export { evaluate } from './tensor/evaluate.ts'
export { gradients } from './tensor/gradients.ts'
export { createHelper, sharedArray } from './tensor/helper/helper.ts'
export type { Helper } from './tensor/helper/helper.ts'
export { startWorker } from './tensor/helper/paired-worker.ts'
export type { PairedWorker } from './tensor/helper/paired-worker.ts'
export { startThread } from './tensor/helper/start-thread.ts'
export { defaultDevice, devices } from './tensor/onnx/device.ts'
export type { Device } from './tensor/onnx/device.ts'
export { toOnnx } from './tensor/onnx/to-onnx.ts'
export { add, div, maximum, minimum, mul, pow, sub } from './tensor/operators/binary.ts'
export { broadcastTo } from './tensor/operators/broadcast-to.ts'
export { cast } from './tensor/operators/cast.ts'
export { and, equal, greater, less, not } from './tensor/operators/compare.ts'
export { concat } from './tensor/operators/concat.ts'
export { constant } from './tensor/operators/constant.ts'
export { convTranspose2d } from './tensor/operators/conv-transpose2d.ts'
export { conv2d } from './tensor/operators/conv2d.ts'
export type { ConvolutionOptions } from './tensor/operators/convolution.ts'
export { gather } from './tensor/operators/gather.ts'
export { iota } from './tensor/operators/iota.ts'
export { matmul } from './tensor/operators/matmul.ts'
export { quantisedMatmul } from './tensor/operators/quantised-matmul.ts'
export { max, mean, sum } from './tensor/operators/reduce.ts'
export { reshape } from './tensor/operators/reshape.ts'
export { rmsNormalise, rmsNormaliseWithScale } from './tensor/operators/rms-normalise.ts'
export { rotate, rotateBack } from './tensor/operators/rotate.ts'
export { pad, slice } from './tensor/operators/slice.ts'
export { logSoftmax, softmax } from './tensor/operators/softmax.ts'
export { stopGradient } from './tensor/operators/stop-gradient.ts'
export { takeAlong } from './tensor/operators/take-along.ts'
export { transpose } from './tensor/operators/transpose.ts'
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
} from './tensor/operators/unary.ts'
export { where } from './tensor/operators/where.ts'
export { quantiseMatrix } from './tensor/quantise-matrix.ts'
export type {
  DType,
  Dim,
  Feeds,
  HostData,
  HostTensor,
  Operand,
  Operator,
  Shape,
  Tensor,
} from './tensor/types.ts'
export { adamInChunks, squaresInChunks } from './tensor/wasm/adam-chunks.ts'
export { adamMachine } from './tensor/wasm/adam-machine.ts'
export type { AdamMachine, AdamNumbers } from './tensor/wasm/adam-machine.ts'
export { compileForSize } from './tensor/wasm/compile-for-size.ts'
export type { SizedProgram } from './tensor/wasm/compile-for-size.ts'
export { instantiate } from './tensor/wasm/instantiate.ts'
export type { Kernel, Machine } from './tensor/wasm/instantiate.ts'
export { matrixProducts } from './tensor/wasm/matrix-products.ts'
export { addInChunks, foldInChunks, unfoldInChunks } from './tensor/wasm/row-chunks.ts'
export { smallProgram } from './tensor/wasm/small-program.ts'
export type { SmallProgram, SmallProgramOptions } from './tensor/wasm/small-program.ts'
