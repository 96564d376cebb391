/**
 * Reinforcement learning for agents. The root has what a program needs to train and to compare; the rooms have the
 * rest (`agoge/episode`, `agoge/reward`, `agoge/evaluation`, `agoge/algorithm`, `agoge/environment`, and what has not settled yet under
 * `agoge/unstable/*`).
 */
export { AgogeError } from './error.ts'
export type { AgogeErrorDetails } from './error.ts'
export type { Episode, EpisodeReward, EpisodeStatus, TrainingSequence } from './episode/index.ts'
export {
  createLanguageModel,
  createLocalActor,
  createOpenAIActor,
  readChatFormat,
  runEpisodes,
} from './agent/index.ts'
export type { Actor, Judgement, Outcome, Task, TaskSource, ToolSession, ToolWorld } from './agent/index.ts'
export { grpo, supervised } from './algorithm/index.ts'
export type { Algorithm } from './algorithm/index.ts'
export { arrayAlgorithms, ppo, ppoPresets } from './algorithm/arrays/index.ts'
export type { ArrayAgent, ArrayAlgorithm, PpoConfig } from './algorithm/arrays/index.ts'
export { baseModelFolder, loadModel, pretrain } from './language/index.ts'
export type { LoadedModel, ModelBackend, Tokenizer } from './language/index.ts'
export { taskReward } from './reward/index.ts'
export type { RewardFunction } from './reward/index.ts'
export { defineTools } from './tool/index.ts'
export type { Toolbox, ToolLike, ToolResult, ToolSpec } from './tool/index.ts'
export { evaluateAgent, loadAgent, trainArray, trainSeeds } from './training/arrays/index.ts'
export type {
  ArrayResult,
  ArraySummary,
  ArrayTrainOptions,
  SeedsSummary,
  TrainSeedsOptions,
} from './training/arrays/index.ts'
export { demonstrateAgent, rolloutAgent } from './rollout/index.ts'
export type { AgentContext, AgentProgram, AgentTask, AgentVerdict } from './rollout/index.ts'
export { serveOpenAI } from './server/openai/index.ts'
export { imitate, smallModelPlan, train, trainAgent } from './training/index.ts'
export type { TrainingEvent, TrainingPlan, TrainingSummary, TrainOptions } from './training/index.ts'
export { arrayWorlds } from './worlds/array-worlds.ts'
export { cartPole } from './worlds/classic/index.ts'
export {
  createFilesystemWorld,
  filesystemDemonstrations,
  filesystemTasks,
} from './worlds/filesystem/index.ts'
export { openMcpWorld } from './worlds/mcp/index.ts'
export { createReasoningTasks, createReasoningWorld, reasoningFamilies } from './worlds/reasoning/index.ts'
export { createToolsWorld } from './worlds/tools/index.ts'
