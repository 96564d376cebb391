import type { Score } from '../episode/score.ts'
import type { Episode, EpisodeNode, SamplingSettings, ToolCall } from '../episode/types.ts'
import type { Toolbox, ToolSpec } from '../tool/tool.ts'

/** What the actor is asked to continue: the messages so far and the tools on offer. */
export interface ActRequest {
  /** Unique within the run; keys the random stream together with `turn`. */
  episode: string
  turn: number
  nodes: readonly EpisodeNode[]
  tools: readonly ToolSpec[]
}

/** One move of the policy: an answer, or calls. `invalid` says why an attempted call could not be understood. */
export interface Act {
  text: string
  calls: ToolCall[]
  invalid?: string
  finish: 'stop' | 'length'
  /** Exact tokens with log-probabilities and mask; empty for a model that does not give them. */
  tokens: Int32Array
  logprobs: Float32Array
  mask: Uint8Array
  weightVersion: number
  promptTokens: number
  /**
   * True where `tokens` begin with the whole prompt although something was said before: the template now shows the past otherwise. What
   * was said earlier is then no part of this act's window.
   */
  rewritten?: boolean
  /** How many tokens the model wrote, where `tokens` does not say. */
  sampledTokens?: number
}

/** Anything that can act: the local model, an OpenAI-compatible endpoint, a planner, a person. */
export interface Actor {
  readonly name: string
  readonly sampling: SamplingSettings
  /** Tokens of a message in the actor's vocabulary, markers included; empty for remote models. */
  encode(node: Pick<EpisodeNode, 'role' | 'text' | 'callId'>): Int32Array
  /** One act for each request, in the same order. Rejecting one as infrastructure fault: put the error in its place. */
  act(requests: readonly ActRequest[], options: { signal?: AbortSignal }): Promise<(Act | Error)[]>
}

/** An environment of tasks in which an agent acts through tools. Everything is determined by (task, seed). */
export interface ToolEnvironment<T extends Task = Task> {
  readonly name: string
  readonly tools: readonly ToolSpec[]
  /** Text put in front of every conversation; may be empty. */
  readonly system?: string
  /** False where the same calls may be answered otherwise another time; training then journals what was played. */
  readonly deterministic?: boolean
  /**
   * True where each task was solved by its plan when it was made. A plan that fails later is then a fault of the environment, which costs
   * that task; elsewhere it is a mistake in the task.
   */
  readonly provesTasks?: boolean
  /** Opens a fresh, isolated state for the task; throws InfrastructureError when it cannot. */
  open(task: T, options: { signal?: AbortSignal }): Promise<ToolSession>
  close(): Promise<void>
}

/** One episode's private state. `judge` is called once, after the last turn; `close` always. */
export interface ToolSession extends Toolbox {
  /** 1 = the task is done; anything less is not; `null` = cannot be judged, which masks the episode. Parts, e.g. { state: 1, answer: 0 }, are from 0 to 1. */
  judge(outcome: Outcome): Promise<Score>
  close(): Promise<void>
}

/** What the judge may look at besides the state of the environment: never the text of the calls. */
export interface Outcome {
  answer: string | null
  calls: number
  invalidCalls: number
}

/** One thing to be done, with the plan of a reference solution (used for demonstrations, never shown to the policy). */
export interface Task {
  id: string
  kind: string
  seed: number
  split: 'train' | 'validation' | 'test' | 'unseen-wording'
  /** What the user says. */
  prompt: string
  /** 1 = easiest. */
  difficulty: number
  context: Record<string, unknown>
  /** Steps of the planner: calls in order, then the answer to give. An argument may use results of earlier steps, hence a function. */
  plan: Expert
}

/** Given the results so far, the planner's next move: a call, perhaps with a word on why before it, or the final answer. */
export type Expert = (
  results: readonly { text: string; isError: boolean }[],
) => { call: Omit<ToolCall, 'id'>; thought?: string } | { answer: string }

/** A generator of tasks by seed. The same (split, seed) gives the same task. */
export interface TaskSource<T extends Task = Task> {
  readonly kinds: readonly string[]
  task(options: { split: Task['split']; seed: number; kind?: string }): T
  /** The first `count` different tasks of a split, families in turn, fewer where it has no more; absent = there is no end of them. */
  heldOut?(split: Task['split'], count: number): T[]
}

export type { Episode }
