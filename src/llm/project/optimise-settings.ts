import type { AnyLanguageModel } from './config.ts'

/** An attempt that a proposer may learn from. All are of training tasks. */
export interface ProposalExample {
  request: string
  /** What the agent did, message by message. */
  conversation: string
  /** What the task expects, if it says so. */
  expected?: string
  isSuccess: boolean
}

/** What a proposer is asked. */
export interface ProposalRequest {
  /** What is proposed: texts of this kind. */
  lever: 'instructions' | 'evolution' | 'playbook' | 'tool-descriptions'
  /** Number of proposals. */
  count: number
  /** The text that they are to improve on. */
  current: string
  examples: readonly ProposalExample[]
  /** What was tried before, with its gain on the tasks that it was tried on. */
  tried: readonly { text: string; gain: number }[]
  /** The tools of the agent, one line each. */
  tools: readonly string[]
  /** The same for the same request; differs between requests. For proposals that are drawn by chance. */
  seed: number
  signal: AbortSignal
}

/**
 * Proposes texts: a model, named as in `models` or as an object, or a function. A proposal is tried, so a bad one costs but does no harm.
 * Fewer than asked for are fine; none says that there is nothing left to try.
 */
export type Proposer =
  | string
  | AnyLanguageModel
  | ((request: ProposalRequest) => readonly string[] | Promise<readonly string[]>)

/** How the budget of a search is divided among levers: what promises most for its cost comes next, or each gets the same. */
export type Picker = 'adaptive' | 'equal'

/** Settings of `agoge optimise` in a config. */
export interface OptimiseSettings {
  /** Proposes instructions, rules and descriptions. Default: none, so that levers which need texts are left out. */
  proposer?: Proposer
  /** Names of levers. Default: all. */
  levers?: readonly string[]
  /** Learning rate of the levers `sft` and `rl`. Default: 3e-3 (Muon) and 3e-4 (AdamW), for a small model. */
  learningRate?: number
  /** How the budget is divided among the levers. Default: `adaptive`. */
  picker?: Picker
  /** Of what is drawn by chance. Default: 0. */
  seed?: number
}
