/** Random streams, tensors with gradients, and the parts of neural networks. Contains no reinforcement learning. */
export {
  createAdam,
  adamWStep,
  createAdamMoments,
  clipScale,
  globalNorm,
  createRAdam,
  createRmsProp,
  constantSchedule,
  cosineDecay,
  linearDecay,
  warmUp,
  warmUpStableDecay,
} from './nn/optimisers.ts'
export type {
  Adam,
  AdamInPlace,
  AdamOptions,
  AdamState,
  AdamMoments,
  AdamWOptions,
  RmsProp,
  RmsPropOptions,
  RmsPropState,
  DecayOptions,
  Schedule,
} from './nn/optimisers.ts'
export {
  glorotUniform,
  heNormal,
  normalValues,
  orthogonal,
  uniformValues,
  embedding,
  layerNorm,
  linear,
  mlp,
  rmsNorm,
} from './nn/layers.ts'
export type { Activation, LinearParameters } from './nn/layers.ts'
export { createMuon, createOrthogonaliser, newtonSchulz } from './nn/muon.ts'
export type { Muon, MuonMatrix, MuonOptions, Orthogonaliser } from './nn/muon.ts'
export { compileObjective } from './nn/objective.ts'
export type { Objective, ObjectiveSpec } from './nn/objective.ts'
export { createBatch } from './nn/batch.ts'
export type { BatchMember } from './nn/batch.ts'
export {
  countParameters,
  createParameters,
  moveTowards,
  parameterFeeds,
  zeroParameters,
} from './nn/parameters.ts'
export type { ParameterSet, ParameterSpec } from './nn/parameters.ts'
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
export { hash32, uniformAt, createRandom } from './random/random.ts'
export type { RandomKey, Random, RandomState } from './random/random.ts'
export { createPcg64 } from './random/pcg64.ts'
export type { Pcg64, Pcg64State } from './random/pcg64.ts'
export { compile, defaultThreads } from './tensor/compile.ts'
export type { CompileOptions, InputSpec, Program } from './tensor/compile.ts'
export { evaluateTensors } from './tensor/evaluate.ts'
export { gradients } from './tensor/gradients.ts'
export { defaultDevice, devices } from './tensor/onnx/session.ts'
export type { Device } from './tensor/onnx/session.ts'
export { toOnnx } from './tensor/onnx/lower.ts'
export { add, div, maximum, minimum, mul, pow, sub } from './tensor/operators/binary.ts'
export { broadcastTo, reshape, transpose } from './tensor/operators/reshape.ts'
export {
  cast,
  stopGradient,
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
} from './tensor/operators/elementwise.ts'
export { and, equal, greater, less, not, where } from './tensor/operators/compare.ts'
export { concat, pad, slice } from './tensor/operators/slice.ts'
export { constant, iota } from './tensor/operators/constant.ts'
export { convTranspose2d, conv2d } from './tensor/operators/convolution.ts'
export type { ConvolutionOptions } from './tensor/operators/convolution.ts'
export { gather, takeAlong } from './tensor/operators/gather.ts'
export { matmul, quantisedMatmul, quantiseMatrix } from './tensor/operators/matmul.ts'
export { max, mean, sum } from './tensor/operators/reduce.ts'
export { rmsNormalise, rmsNormaliseWithScale, logSoftmax, softmax } from './tensor/operators/normalise.ts'
export { rotate, rotateBack } from './tensor/operators/rotate.ts'
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
} from './tensor/node.ts'
