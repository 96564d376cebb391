export { createAdam } from './adam.ts'
export type { Adam, AdamInPlace, AdamOptions, AdamState } from './adam.ts'
export { adamWStep, createAdamMoments } from './adamw.ts'
export type { AdamMoments, AdamWOptions } from './adamw.ts'
export { clipScale, globalNorm } from './clip.ts'
export { glorotUniform, heNormal, normalValues, orthogonal, uniformValues } from './initialise.ts'
export { embedding, layerNorm, linear, mlp, rmsNorm } from './layers.ts'
export type { Activation, LinearParameters } from './layers.ts'
export { createMuon } from './muon.ts'
export type { Muon, MuonMatrix, MuonOptions } from './muon.ts'
export { createOrthogonaliser, newtonSchulz } from './orthogonalise.ts'
export type { Orthogonaliser } from './orthogonalise.ts'
export { createRAdam } from './radam.ts'
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
export { constantSchedule, cosineDecay, linearDecay, warmUp, warmUpStableDecay } from './schedules.ts'
export type { DecayOptions, Schedule } from './schedules.ts'
export { compileObjective } from './objective.ts'
export type { Objective, ObjectiveSpec } from './objective.ts'
export {
  countParameters,
  createParameters,
  moveTowards,
  parameterFeeds,
  zeroParameters,
} from './parameters.ts'
export type { ParameterSet, ParameterSpec } from './parameters.ts'
export { createRmsProp } from './rmsprop.ts'
export type { RmsProp, RmsPropOptions, RmsPropState } from './rmsprop.ts'
