export type { EpisodeLimits, EpisodeSpec } from './episode-state.ts'
export { createLocalActor } from './local-actor.ts'
export type { LocalActorOptions } from './local-actor.ts'
export { createOpenAIActor } from './openai-actor.ts'
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
