export type { EpisodeLimits, EpisodeSpec } from './episode-state.ts'
export { createChatActor } from './chat-actor.ts'
export type { ChatActorOptions } from './chat-actor.ts'
export {
  createOutputStream,
  createSmallFormat,
  createTemplateFormat,
  cutAtStop,
  isSmallTokenizer,
  readChatFormat,
  readChatModel,
  wholeCharacters,
  withoutBegunMark,
} from './chat-format/index.ts'
export type {
  ChatFormat,
  ChatModel,
  ChatOutput,
  ChatWindow,
  ConversationMessage,
  OutputDelta,
  OutputStream,
  TemplateFormatOptions,
} from './chat-format/index.ts'
export { checkWindow, createLanguageModel, languageModelFrom, readAnswer } from './ai-sdk/index.ts'
export type {
  AnswerCall,
  LanguageModel,
  LanguageModelOptions,
  ModelAnswer,
  ModelCall,
  TokenMetadata,
} from './ai-sdk/index.ts'
export { createJoiningQueue } from './joining-queue.ts'
export { createSampleQueue } from './sample-queue.ts'
export type { QueueClient, SampleQueue } from './sample-queue.ts'
export { createLocalActor } from './local-actor.ts'
export type { LocalActorOptions } from './local-actor.ts'
export { createOpenAIActor, endpointUrl } from './openai-actor.ts'
export type { OpenAIActorOptions } from './openai-actor.ts'
export { parseCalls, parseExactCall } from './parse-calls.ts'
export type { BareCall, ParsedOutput } from './parse-calls.ts'
export { createPlannerActor } from './planner-actor.ts'
export type { PlannerActorOptions } from './planner-actor.ts'
export { runEpisodes } from './turn-loop.ts'
export type { RunOptions, TurnProgress } from './turn-loop.ts'
export type {
  Act,
  Actor,
  ActRequest,
  Episode,
  Judgement,
  Outcome,
  Planner,
  Task,
  TaskSource,
  ToolSession,
  ToolWorld,
} from './types.ts'
