import type { Score } from '../episode/score.ts'
import type { Episode, EpisodeNode, SamplingSettings, ToolCall } from '../episode/types.ts'
import type { Toolbox, ToolSpec } from '../tool/tool.ts'

/** The input of an actor: the messages so far and the offered tools. */
export interface ActRequest {
  /** Unique within the run. Keys the random stream together with `turn`. */
  episode: string
  turn: number
  nodes: readonly EpisodeNode[]
  tools: readonly ToolSpec[]
}

/** One act of the policy: an answer, or calls. `invalid` says why an attempted call could not be parsed. */
export interface Act {
  text: string
  calls: ToolCall[]
  invalid?: string
  finish: 'stop' | 'length'
  /** Exact tokens with log-probabilities and mask. Empty if the model does not report them. */
  tokens: Int32Array
  logprobs: Float32Array
  mask: Uint8Array
  weightVersion: number
  promptTokens: number
  /**
   * True if `tokens` start with the whole prompt although there were earlier acts, because the template now renders earlier
   * messages differently. Earlier acts are then not part of this act's prompt.
   */
  rewritten?: boolean
  /** Number of generated tokens, if `tokens` is empty. */
  sampledTokens?: number
}

/** Anything that can act: the local model, an OpenAI-compatible endpoint, an expert, a person. */
export interface Actor {
  readonly name: string
  readonly sampling: SamplingSettings
  /** Tokens of a message in the actor's vocabulary, including markers. Empty for remote models. */
  encode(node: Pick<EpisodeNode, 'role' | 'text' | 'callId'>): Int32Array
  /**
   * Returns one act per request, in the same order. To report an infrastructure fault of one request, put the error in its
   * place.
   */
  act(requests: readonly ActRequest[], options: { signal?: AbortSignal }): Promise<(Act | Error)[]>
}

/** An environment of tasks in which an agent acts through tools. It is determined by (task, seed). */
export interface ToolEnvironment<T extends Task = Task> {
  readonly name: string
  readonly tools: readonly ToolSpec[]
  /** Text before every conversation; may be empty. */
  readonly system?: string
  /** False if the same calls may get other answers the next time. Training then journals the episodes. */
  readonly deterministic?: boolean
  /**
   * True if each task was solved by its plan when it was made. A plan that fails later is then a fault of the environment, and
   * only that task is dropped. In other environments it is a mistake in the task.
   */
  readonly provesTasks?: boolean
  /** Opens a new, isolated state for the task. @throws InfrastructureError if that is not possible. */
  open(task: T, options: { signal?: AbortSignal }): Promise<ToolSession>
  close(): Promise<void>
}

/** The private state of one episode. `judge` is called once, after the last turn; `close` always. */
export interface ToolSession extends Toolbox {
  /**
   * 1 if the task is done, less if not. `null` if that cannot be judged, which masks the episode. Parts, e.g. { state: 1,
   * answer: 0 }, are from 0 to 1.
   */
  judge(outcome: Outcome): Promise<Score>
  /**
   * The state of the episode as plain data, without logs and counters: what an independent check compares with the state that
   * the expert leaves. May be called between calls. Absent if the state cannot be shown.
   */
  observe?(): Promise<unknown>
  close(): Promise<void>
}

/** What the judge may read besides the environment's state. Never the text of the calls. */
export interface Outcome {
  answer: string | null
  calls: number
  invalidCalls: number
}

/** One task, with the plan of a reference solution (used for demonstrations, never shown to the policy). */
export interface Task {
  id: string
  kind: string
  seed: number
  split: 'train' | 'validation' | 'test' | 'unseen-paraphrase'
  /** The user's message. */
  prompt: string
  /** The template that the message was made from, with `<placeholders>`. Absent if it was written for this task. */
  template?: string
  /** Difficulty; 1 is the easiest. */
  difficulty: number
  context: Record<string, unknown>
  /** Steps of the expert: calls in order, then the answer. A function, since an argument may use results of earlier steps. */
  plan: Expert
  /** True if only the state counts, and any answer is accepted. Default: the expert's answer is required, unless it is "done". */
  freeAnswer?: boolean
  /** `several` if other states or answers than the expert's are right too. Default: `one`. */
  solutions?: 'one' | 'several'
  /** Success rate of guessing without looking: one half for yes or no. Default: 0. */
  chance?: number
}

/** The expert's next move, given the results so far: a call, optionally with a reason before it, or the final answer. */
export type Expert = (
  results: readonly { text: string; isError: boolean }[],
) => { call: Omit<ToolCall, 'id'>; thought?: string } | { answer: string }

/** A generator of tasks by seed. The same (split, seed) gives the same task. */
export interface TaskSource<T extends Task = Task> {
  readonly kinds: readonly string[]
  task(options: { split: Task['split']; seed: number; kind?: string }): T
  /**
   * The first `count` distinct tasks of a split, alternating between kinds; fewer if it has no more. Absent if the supply is
   * unlimited.
   */
  heldOut?(split: Task['split'], count: number): T[]
}

export type { Episode }
