import type { Random } from '../../engine/random/random.ts'
import type { FileTask } from '../environment/mcp/goals/task-file.ts'
import type { Episode } from '../episode/types.ts'
import type { Spending } from '../project/budget.ts'
import type { TrialRecord } from '../project/journal.ts'
import type { AgentSetup } from '../setup/setup.ts'
import type { ToolSpec } from '../tool/tool.ts'
import type { ModelTraining } from './model-training.ts'
import type { ProposalRequest } from '../project/optimise-settings.ts'

/** A finished trial of a setup on a training task, as levers see it. */
export interface SetupTrial {
  setup: AgentSetup
  task: FileTask
  record: TrialRecord
  episode: Episode
}

/** A setup that was proposed, and what became of it. */
export interface Candidate {
  /** Of the setup. */
  id: string
  lever: string
  round: number
  setup: AgentSetup
  /** What it is, in a few words. */
  about: string
  /** What a training began with: the id of a setup, or how many tasks were solved. */
  from?: string
  /** Mean gain over the setup that it is to improve on, on the training tasks that it was screened with. Null: not tried. */
  screened: number | null
  /** Mean gain over the original on the selection tasks. Null if it did not get so far. */
  gain: number | null
  /** Why it was dropped; absent for one that was kept. */
  rejected?: string
}

/** A setup that a lever wants to be tried. */
export interface Proposal {
  setup: AgentSetup
  about: string
  /** What a training began with. */
  from?: string
  /** Calls of a trial relative to the original, if they are more. Default: 1. */
  costFactor?: number
}

/** What a lever knows when it proposes. */
export interface LeverContext {
  /** The agent's own setup. */
  original: AgentSetup
  /** The best setup of this lever so far, or the original. */
  best: AgentSetup
  /** The best setup that the search has found so far, with whatever lever, or the original. */
  bestFound: AgentSetup
  /** Number of this proposal of the lever, from 0. */
  round: number
  /** Its own stream for this lever and round. */
  random: Random
  /** All training tasks. */
  train: readonly FileTask[]
  /** Finished trials on training tasks: of `best`, and those of other setups that were tried. */
  trials: (setup?: AgentSetup) => readonly SetupTrial[]
  /** Makes trials of a setup on training tasks. */
  tryOut: (setup: AgentSetup, tasks: readonly FileTask[]) => Promise<readonly SetupTrial[]>
  /** Earlier candidates of this lever. */
  candidates: readonly Candidate[]
  /** The tools that the agent offers to its model. */
  tools: readonly ToolSpec[]
  /** The text of the agent's own system message; empty without one. */
  systemText: string
  /** The models of the config by name; the first is the agent's. */
  models: readonly string[]
  /** Trains the local model of the config; or the reason why it cannot. */
  training: ModelTraining | string
  /** Whether the config says what is wrong with an answer. */
  canVerify: boolean
  /** Whether texts can be proposed. */
  hasProposer: boolean
  propose: (
    request: Pick<ProposalRequest, 'lever' | 'count' | 'current' | 'examples'>,
  ) => Promise<readonly string[]>
}

/** One way to improve an agent. */
export interface Lever {
  name: string
  /** Where it comes from: the paper, or the library. */
  source: string
  /** True if its few proposals cost so much that each is tried on the selection tasks. Default: they are screened on training tasks first. */
  hasFew?: boolean
  /** Why it cannot be used here; undefined if it can. Asked after the first trials of the original. */
  unusable: (context: LeverContext) => string | undefined
  /** Why it cannot propose yet, as long as others have not found what it needs; undefined if it can. */
  waitsFor?: (context: LeverContext) => string | undefined
  /** What its next proposal costs before it is tried, such as a training, or trials from which it is made. Default: nothing. */
  upfront?: (context: LeverContext) => Spending
  /** How many times as dear as the original the trials of its setups are, and so the test at the end. Default: 1. */
  costFactor?: number
  /** What its next proposal may add to the success of the best setup, if trials so far say so. Default: not known; the search goes by its earlier ones. */
  expects?: (context: LeverContext) => number | undefined
  /** Setups to be tried next. None: it has no more. Depends on the context alone, so that a continued search proposes the same. */
  propose: (context: LeverContext) => Promise<readonly Proposal[]>
}
