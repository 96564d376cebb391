/**
 * Reinforcement learning for agents. This entry exports what most programs need. `agoge/llm` adds the rest for
 * language-model agents, `agoge/classic` the rest for classic RL. Both are built on `agoge/engine`,
 * `agoge/losses`, `agoge/rewards` and `agoge/statistics`.
 *
 * @example
 * import { cartPole, ppo, ppoPresets, trainClassic } from 'agoge'
 *
 * const { numEnvs, ...settings } = ppoPresets['sb3-zoo-cartpole']
 * const { summary } = await trainClassic({
 *   definition: cartPole,
 *   algorithm: ppo(settings),
 *   numEnvs,
 *   steps: 100_000,
 * })
 */
export { closestName } from './closest-name.ts'
export { AgogeError } from './error.ts'
export type { AgogeErrorDetails, ErrorCode } from './error.ts'
export type { Score } from './llm/episode/score.ts'
export type { Episode, EpisodeReward, EpisodeStatus, TrainingSequence } from './llm/episode/types.ts'
export { createLanguageModel } from './llm/agent/ai-sdk/language-model.ts'
export { createLocalActor } from './llm/agent/local-actor.ts'
export { createOpenAIActor } from './llm/agent/openai-actor.ts'
export { readChatFormat } from './llm/agent/chat-format/open-format.ts'
export { runEpisodes } from './llm/agent/turn-loop.ts'
export type { Actor, Outcome, Task, TaskSource, ToolSession, ToolEnvironment } from './llm/agent/types.ts'
export { grpo } from './llm/algorithm/policy-optimisation/presets.ts'
export { supervised } from './llm/algorithm/losses/imitation.ts'
export type { Algorithm } from './llm/algorithm/types.ts'
export { ppo, ppoPresets } from './classic/algorithm/on-policy/ppo.ts'
export type { ClassicAgent, ClassicAlgorithm } from './classic/algorithm/agent.ts'
export type { PpoConfig } from './classic/algorithm/on-policy/ppo.ts'
export { baseModelFolder } from './llm/checkpoint/checkpoint.ts'
export { loadModel } from './llm/backend/base-model.ts'
export type { LoadedModel } from './llm/backend/base-model.ts'
export type { ModelBackend } from './llm/model-backend.ts'
export type { Tokenizer } from './llm/tokenizer/tokenizer.ts'
export { judgeReward } from './llm/reward/judge.ts'
export { taskReward } from './llm/reward/rewards.ts'
export type { GroupReward, RewardFunction } from './llm/reward/reward.ts'
export { defineTools } from './llm/tool/define-tools.ts'
export { InfrastructureError } from './llm/tool/tool.ts'
export type { Toolbox, ToolResult, ToolSpec } from './llm/tool/tool.ts'
export type { ToolLike } from './llm/tool/define-tools.ts'
export { evaluateAgent } from './classic/training/evaluate-agent.ts'
export { loadAgent } from './classic/training/load-agent.ts'
export { trainClassic } from './classic/training/train-classic.ts'
export { trainSeeds } from './classic/training/train-seeds.ts'
export type {
  ClassicResult,
  ClassicSummary,
  ClassicTrainOptions,
  SeedsSummary,
  TrainSeedsOptions,
} from './classic/training/types.ts'
export { demonstrateAgent, rolloutAgent } from './llm/rollout/agents/rollout-agent.ts'
export type { AgentContext, AgentProgram, AgentTask } from './llm/rollout/agents/rollout-agent.ts'
export { serveOpenAI } from './llm/serving/openai/serve.ts'
export { trainAgent } from './llm/training/train-agent.ts'
export { fineTune } from './llm/training/fine-tune.ts'
export { smallModelPlan } from './llm/training/defaults.ts'
export type { TrainingEvent } from './runs/run-folder.ts'
export type { TrainingPlan, TrainingSummary } from './llm/training/types.ts'
export type { TrainOptions } from './llm/training/train.ts'
export { cartPole } from './classic/environments/control/cart-pole.ts'
export { createFilesystemEnvironment } from './llm/environment/filesystem/environment.ts'
export { auditEnvironment } from './llm/audit/audit.ts'
export type { AttackResult, AuditExample, AuditOptions, AuditReport } from './llm/audit/audit.ts'
export { cheatRates } from './llm/audit/cheating-agents.ts'
export type { CheatName, CheatOptions, CheatRate } from './llm/audit/cheating-agents.ts'
export { checkToolEnvironment } from './llm/environment/definition/check-tool-environment.ts'
export type {
  CheckToolEnvironmentOptions,
  EnvironmentCheck,
} from './llm/environment/definition/check-tool-environment.ts'
export { defineToolEnvironment } from './llm/environment/definition/define-tool-environment.ts'
export type {
  DefinedTask,
  DefinedToolEnvironment,
  JudgeInputs,
  ToolDraft,
  ToolEnvironmentDefinition,
  ToolTaskKind,
} from './llm/environment/definition/define-tool-environment.ts'
export type { Draw } from './llm/environment/definition/task-source.ts'
export { filesystemDemonstrations, filesystemTasks } from './llm/environment/filesystem/tasks.ts'
export { defineConfig, run } from './llm/project/config.ts'
export type {
  Agent,
  AgentEndpoint,
  AgentEnvironment,
  AgentTools,
  AgogeConfig,
  AnyScorer,
  BudgetLimits,
  GroupScorer,
  JudgeSettings,
  LocalRun,
  ModelReference,
  Price,
  Provider,
  Scorer,
  ScoringContext,
  Trial,
} from './llm/project/config.ts'
export { train } from './llm/project/train.ts'
export type {
  RunningTraining,
  TrainConfigEvent,
  TrainConfigOptions,
  TrainConfigResult,
} from './llm/project/training/train-config.ts'
export { evaluate } from './llm/project/evaluate.ts'
export type { EvaluateOptions, EvaluationEvent, RunningEvaluation } from './llm/project/evaluate.ts'
export type {
  EvaluationResult,
  JudgeReport,
  ModelComparison,
  ModelEvaluation,
} from './llm/project/evaluation.ts'
export { pairwise, relative, rubric } from './llm/project/judging/judge-scorers.ts'
export type { PairwiseOptions, RelativeOptions, RubricOptions } from './llm/project/judging/judge-scorers.ts'
export { mcp } from './llm/project/environment.ts'
export type { EnvironmentTool, McpOptions, McpReference } from './llm/project/environment.ts'
export { optimise } from './llm/optimise/optimise.ts'
export type {
  OptimiseEvent,
  OptimiseOptions,
  OptimiseResult,
  RunningOptimisation,
} from './llm/optimise/optimise.ts'
export type { OptimiseSettings, ProposalRequest, Proposer } from './llm/project/optimise-settings.ts'
export { readSetup } from './llm/setup/setup.ts'
export type { AgentSetup } from './llm/setup/setup.ts'
export { withSetup } from './llm/setup/with-setup.ts'
export { mcpTasks } from './llm/project/mcp-tasks.ts'
export type { McpTasks, McpTasksOptions } from './llm/project/mcp-tasks.ts'
export { tools } from './llm/project/tools-environment.ts'
export type {
  StartedTools,
  ToolsDefinition,
  ToolSet,
  ToolsReference,
} from './llm/project/tools-environment.ts'
export { evaluationMatchers } from './llm/project/matchers.ts'
export { answerMatches, jsonMatches, stateEquals, taskSolved } from './llm/project/scorers.ts'
export type { FileTask } from './llm/environment/mcp/goals/task-file.ts'
export type { ToolRule } from './llm/project/tools.ts'
export { episodeToOtlp, exportOtel } from './llm/traces/export-otel.ts'
export type { ExportOtelOptions, OtlpOptions } from './llm/traces/export-otel.ts'
export { importTraces } from './llm/traces/import-traces.ts'
export type { ImportProblem, ImportSummary, ImportTracesOptions } from './llm/traces/import-traces.ts'
export { writeTasks } from './llm/traces/tasks-of-episodes.ts'
export type { WriteTasksOptions, WrittenTasks } from './llm/traces/tasks-of-episodes.ts'
export { openMcpEnvironment } from './llm/environment/mcp/open-mcp-environment.ts'
export { createToolsEnvironment } from './llm/environment/tools/tools-environment.ts'
