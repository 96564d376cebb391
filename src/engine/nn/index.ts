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
} from './optimisers.ts'
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
} from './optimisers.ts'
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
} from './layers.ts'
export type { Activation, LinearParameters } from './layers.ts'
export { createMuon, createOrthogonaliser, newtonSchulz } from './muon.ts'
export type { Muon, MuonMatrix, MuonOptions, Orthogonaliser } from './muon.ts'
export {
  decodeTensor,
  readSafetensors,
  readSafetensorsHeader,
  safetensorsHeaderBytes,
  writeSafetensors,
} from './safetensors.ts'
export type {
  SafetensorsFile,
  SafetensorsHeader,
  StoredTensor,
  StoredType,
  TensorPlace,
} from './safetensors.ts'
export { compileObjective } from './objective.ts'
export type { Objective, ObjectiveSpec } from './objective.ts'
export { createBatch } from './batch.ts'
export type { BatchMember } from './batch.ts'
export {
  countParameters,
  createParameters,
  moveTowards,
  parameterFeeds,
  zeroParameters,
} from './parameters.ts'
export type { ParameterSet, ParameterSpec } from './parameters.ts'
