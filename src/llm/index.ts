/** Reinforcement learning of language-model agents: models, tools, environments, rollouts, algorithms, trainers and servers. */
export { createLanguageModel } from './agent/ai-sdk/language-model.ts'
export { readChatFormat } from './agent/chat-format/open-format.ts'
export { createLocalActor } from './agent/local-actor.ts'
export { createOpenAIActor } from './agent/openai-actor.ts'
export { runEpisodes } from './agent/turn-loop.ts'
export type { Actor, Outcome, Task, TaskSource, ToolSession, ToolEnvironment } from './agent/types.ts'
export { defineAlgorithm } from './algorithm/define-algorithm.ts'
export type { AlgorithmDefinition } from './algorithm/define-algorithm.ts'
export { grpo, findPolicyPreset, policyPresets } from './algorithm/policy-optimisation/presets.ts'
export type { GrpoSettings, PolicyPreset, PolicyPresetName } from './algorithm/policy-optimisation/presets.ts'
export { overTokens } from './algorithm/losses/over-tokens.ts'
export type { TokenInputs, TokenLoss } from './algorithm/losses/over-tokens.ts'
export type { AdvantageFunction, AdvantageReport, EpisodeAdvantage } from './algorithm/types.ts'
export { optimisePolicy } from './algorithm/policy-optimisation/optimise-policy.ts'
export type { PolicyOptimisation } from './algorithm/policy-optimisation/optimise-policy.ts'
export type { AdvantageSettings, PolicyLossSettings, PolicySettings } from './algorithm/catalogue.ts'
export type { AdaptiveEntropy, KlSettings, RewardShaping } from './algorithm/types.ts'
export { supervised, trainedTokens } from './algorithm/losses/imitation.ts'
export type {
  Algorithm,
  BatchSettings,
  EpisodeGroup,
  LearningContext,
  PolicyUpdate,
  ScoredSequence,
} from './algorithm/types.ts'
export { loadModel } from './backend/base-model.ts'
export type { LoadedModel } from './backend/base-model.ts'
export { forwardBackward } from './backend/custom-loss.ts'
export type { CustomLoss, CustomLossReport } from './backend/custom-loss.ts'
export { createLocalBackend, loadLocalBackend } from './backend/local-backend.ts'
export type { LocalBackend } from './backend/local-backend.ts'
export { createScalarModel } from './backend/scalar-model.ts'
export { createTinkerBackend } from './backend/tinker/tinker-backend.ts'
export { baseModelFolder, readCheckpoint } from './checkpoint/checkpoint.ts'
export { auditEnvironment } from './audit/audit.ts'
export type { AttackResult, AuditExample, AuditOptions, AuditReport } from './audit/audit.ts'
export { cheatRates } from './audit/cheating-agents.ts'
export type { CheatName, CheatOptions, CheatRate } from './audit/cheating-agents.ts'
export { checkToolEnvironment } from './environment/definition/check-tool-environment.ts'
export type {
  CheckToolEnvironmentOptions,
  EnvironmentCheck,
} from './environment/definition/check-tool-environment.ts'
export { defineToolEnvironment } from './environment/definition/define-tool-environment.ts'
export type {
  DefinedTask,
  DefinedToolEnvironment,
  JudgeInputs,
  ToolDraft,
  ToolEnvironmentDefinition,
  ToolTaskKind,
} from './environment/definition/define-tool-environment.ts'
export type { Draw } from './environment/definition/task-source.ts'
export { filesystemDemonstrations, filesystemTasks } from './environment/filesystem/tasks.ts'
export { createFilesystemEnvironment } from './environment/filesystem/environment.ts'
export { openMcpEnvironment } from './environment/mcp/open-mcp-environment.ts'
export { reasoningKinds } from './environment/reasoning/kinds/index.ts'
export { defineKind } from './environment/reasoning/kind.ts'
export { createReasoningTasks } from './environment/reasoning/environment.ts'
export { createReasoningEnvironment, reasoningReward } from './environment/reasoning/environment.ts'
export { createToolsEnvironment } from './environment/tools/tools-environment.ts'
export { decodeEpisode, encodeEpisode, appendEpisodes, readEpisodes } from './episode/codec.ts'
export { toTrainingSequences } from './episode/training-sequences.ts'
export type { SampleAdvantage } from './episode/training-sequences.ts'
export type { Score, Scored, Unscored } from './episode/score.ts'
export type {
  ToolCall,
  Ending,
  Episode,
  EpisodeNode,
  EpisodeReward,
  EpisodeSample,
  EpisodeStatus,
  SamplingSettings,
  TrainingSequence,
} from './episode/types.ts'
export { turnRewards, utteranceRows } from './episode/training-sequences.ts'
export type { Utterance } from './episode/training-sequences.ts'
export { compareSuccess, probabilityOfImprovement } from './evaluation/episode-statistics.ts'
export {
  addReasons,
  countReasons,
  isJudged,
  reasonsText,
  summariseEpisodes,
} from './evaluation/episode-statistics.ts'
export type { EpisodeSummary } from './evaluation/episode-statistics.ts'
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
} from './model-backend.ts'
export { smallConfig } from './model/config.ts'
export type { TransformerConfig } from './model/config.ts'
export { exportOnnx } from './model/export-onnx.ts'
export { activationBytes, standingBytes } from './model/memory.ts'
export { initialiseParameters, parameterLayout } from './model/parameters.ts'
export { pretrain } from './pretraining/pretrain.ts'
export { demonstrateAgent, rolloutAgent } from './rollout/agents/rollout-agent.ts'
export type { AgentContext, AgentProgram, AgentTask } from './rollout/agents/rollout-agent.ts'
export {
  answerSequence,
  creditedSequence,
  imitationSequence,
  sampleAnswers,
} from './rollout/sample-answers.ts'
export type { SampledAnswer } from './rollout/sample-answers.ts'
export type { SamplingWeights } from './sampling/quantised-weights.ts'
export { openGateway } from './gateway/gateway.ts'
export type { Gateway, GatewayOptions } from './gateway/gateway.ts'
export { localGatewayModel } from './gateway/local-model.ts'
export type { GatewayModel, LocalModelOptions, RecordedModel } from './gateway/local-model.ts'
export type { SessionEnd } from './gateway/sessions.ts'
export { serveOpenAI } from './serving/openai/serve.ts'
export { createTinkerServer } from './serving/tinker/server.ts'
export { trainTokenizer } from './tokenizer/bpe-train.ts'
export { readChatTemplate } from './tokenizer/chat-template.ts'
export { encodeConversation, specialTokens } from './tokenizer/template.ts'
export { createTokenizer } from './tokenizer/tokenizer.ts'
export type { Tokenizer } from './tokenizer/tokenizer.ts'
export { defineTools } from './tool/define-tools.ts'
export { InfrastructureError } from './tool/tool.ts'
export type { ToolLike } from './tool/define-tools.ts'
export type { ToolResult, ToolSpec, Toolbox } from './tool/tool.ts'
export { fineTune } from './training/fine-tune.ts'
export { trainAgent } from './training/train-agent.ts'
export { trainArcher } from './training/critic/archer.ts'
export { progressAdvantage, trainProgressModel } from './training/critic/progress.ts'
export { trainTokenPpo } from './training/critic/token-ppo.ts'
export { expertIteration } from './training/distillation/expert-iteration.ts'
export { datasetRows, writeDataset } from './training/datasets/datasets.ts'
export { smallModelPlan } from './training/defaults.ts'
export { distil, episodeRows } from './training/distillation/on-policy.ts'
export {
  dpo,
  generativeVerifier,
  ipo,
  kto,
  orpo,
  pairMethod,
  simpo,
  verifierScores,
} from './training/preference/methods.ts'
export { episodePairs, judgedPairs, trainOnline } from './training/preference/online.ts'
export {
  learnRewards,
  rewardScores,
  stepScores,
  trainProcessReward,
  trainRewardModel,
} from './training/preference/reward-model.ts'
export { learnPreferences, trainPreferences } from './training/preference/train-preferences.ts'
export type { PreferencePair } from './training/preference/answers.ts'
export { applyUpdate, moveWeights, optimStepAt, runPart } from './training/kernel.ts'
export type { StepTools, TrainedModel, TrainingPart, Validation } from './training/kernel.ts'
export { runTraining, settingsOf } from './training/run.ts'
export type { RunOptions, RunTrainingOptions, TrainedRun } from './training/run.ts'
export { train } from './project/train.ts'
export type { TrainOptions } from './training/train.ts'
export type { TrainingPlan, TrainingSummary } from './training/types.ts'
export type { TrainingEvent } from '../runs/run-folder.ts'
export { appendLines, readLines } from '../runs/files.ts'
export { adventureEnvironment } from './environment/adventure/tool-environment.ts'
export { createAdventure } from './environment/adventure/adventure.ts'
