export type {
  ForwardOptions,
  FrozenSampler,
  LossName,
  LossReport,
  LossSettings,
  ModelBackend,
  OptimReport,
  OptimStep,
  SampleOptions,
  SampleOutput,
  SampleRequest,
  TokenLogprob,
} from './backend.ts'
export { createAdapter, loraSettings } from './adapters/lora.ts'
export type { Adapter, LoraOptions, LoraSettings } from './adapters/lora.ts'
export { readAdapter, writeAdapter } from './adapters/peft.ts'
export type { Trainable } from './adapters/trainable.ts'
export { baseModelFolder } from './base-model-folder.ts'
export { loadModel, loadTokenizer, requireModel, requireTokenizer } from './base-model.ts'
export type { LoadedModel } from './base-model.ts'
export { createChatTemplate, readChatTemplate } from './chat-template.ts'
export type { ChatTemplate, RenderOptions, TemplateMessage, TemplateSources } from './chat-template.ts'
export { forwardBackward } from './custom-loss.ts'
export type { CustomLoss, CustomLossReport, CustomLossValue } from './custom-loss.ts'
export { trainTokenizer } from './bpe-train.ts'
export type { TrainTokenizerOptions } from './bpe-train.ts'
export { readCheckpoint, writeCheckpoint } from './checkpoint.ts'
export type { Checkpoint } from './checkpoint.ts'
export { activationBytes, standingBytes } from './memory.ts'
export { modelCard } from './model-card.ts'
export type { ModelCardFacts } from './model-card.ts'
export { modelFamilies, smallConfig } from './config.ts'
export type { ModelFamily, TransformerConfig } from './config.ts'
export { parseConfig, serialiseConfig } from './config-json.ts'
export type { RotaryScaling } from './rotary-scaling.ts'
export { corpusConversation, corpusSkills, skillConversation } from './corpus/index.ts'
export type { CorpusSkill, WordPool } from './corpus/index.ts'
export { exportOnnx } from './export-onnx.ts'
export { scoreSequences, sequenceEntropies } from './score-sequences.ts'
export { createFrozenSamplers } from './frozen-samplers.ts'
export type { FrozenSamplers, FrozenWeights } from './frozen-samplers.ts'
export { createLocalBackend, loadLocalBackend } from './local-backend.ts'
export type { LoadOptions, LocalBackend, LocalBackendOptions } from './local-backend.ts'
export type { Grammar, SchemaGrammar } from './grammar/index.ts'
export { initialiseParameters, parameterLayout } from './parameters.ts'
export type { ParameterEntry, ParameterLayout, Parameters } from './parameters.ts'
export { corpusTokenizer, pretrain } from './pretrain.ts'
export type { Pretrained, PretrainOptions, PretrainProgress } from './pretrain.ts'
export { probedSkills, probeSkills } from './probes.ts'
export type { ProbeName, ProbeOptions, ProbeScores } from './probes.ts'
export { createScalarModel, loadScalarModel } from './scalar-model.ts'
export type { ScalarModel, ScalarModelOptions } from './scalar-model.ts'
export type { SamplingSettings } from './sampling-settings.ts'
export { samplingWeightTypes } from './sampling-weights.ts'
export type { SamplingWeights } from './sampling-weights.ts'
export { callText, encodeConversation, encodeMessage, renderMessage, specialTokens } from './template.ts'
export type { ChatMessage, EncodedMessage, SpecialToken } from './template.ts'
export { tokenizerFromJson, tokenizerToJson } from './tokenizer-json.ts'
export { createTokenizer } from './tokenizer.ts'
export type { Tokenizer, TokenizerModel } from './tokenizer.ts'
export type { AddedToken, NormalForm, TokenizerLayout } from './tokenizer-layout.ts'
