import { createRandom } from '../../engine/random/random.ts'
import type { Spending } from '../project/budget.ts'
import type { FileTask } from '../environment/mcp/goals/task-file.ts'
import type { AgentSetup } from '../setup/setup.ts'
import type { Candidate, Lever, LeverContext } from './lever.ts'
import { BudgetEnded, type SetupTrials } from './setup-trials.ts'
import { createJoined, type Joined, joinWith } from './join.ts'
import { type Outlook, outlookOf, promiseOf } from './promise.ts'
import { allowanceOf, bestFound, bestSetup, costOf, firstLook, tryProposals } from './try-proposals.ts'

import type { Picker } from '../project/optimise-settings.ts'

/** A lever with what it has found. */
export interface Arm {
  lever: Lever
  /** The best setup so far. */
  best: AgentSetup
  /** Its mean gain over the original on the selection tasks; 0 for the original. */
  gain: number
  candidates: Candidate[]
  /** Proposals so far. */
  round: number
  /** Proposals in a row that brought no gain. */
  without: number
  /** What the last proposal that brought a gain added to it. */
  lastStep: number
  /** In the unit of the budget. */
  spent: number
  /** Why it ended; absent while it goes on. */
  ended?: string
}

/** How far a search is. */
export interface SearchState {
  arms: readonly Arm[]
  joined: Joined
}

/** A lever that has proposed nothing yet. */
export function newArm(lever: Lever, original: AgentSetup): Arm {
  return { lever, best: original, gain: 0, candidates: [], round: 0, without: 0, lastStep: 0, spent: 0 }
}

/** What a search needs. */
export interface SearchOptions {
  levers: readonly Lever[]
  picker: Picker
  original: AgentSetup
  train: readonly FileTask[]
  selection: readonly FileTask[]
  /** Success of the original on the selection tasks. */
  before: number
  /** Trials of each selection task. */
  trials: number
  made: SetupTrials
  /** A cost in the unit of the budget. */
  unit: (spending: Spending) => number
  /** What the search may spend, in the unit of `spent`, if the test at the end is of a setup whose trials cost this much. */
  allowanceFor: (costOfTested: number) => number
  /** What was spent so far by the search's own count. */
  spent: () => number
  /** What a trial of the original costs, on average. */
  costOfTrial: number
  /** What a lever knows besides what the search itself tells it. */
  knownTo: (arm: Arm) => AgentKnowledge
  onCandidate: (candidate: Candidate) => void
  onArm: (arm: Arm) => void
  seed: number
}

/** What levers know of the agent. */
export type AgentKnowledge = Pick<
  LeverContext,
  'tools' | 'systemText' | 'models' | 'training' | 'canVerify' | 'hasProposer' | 'propose'
>

/** What a search found. */
export interface SearchResult {
  arms: readonly Arm[]
  /** The setup with the highest gain on the selection tasks; the original if none has any. */
  best: { setup: AgentSetup; gain: number; about: string; lever: string } | null
  stopped: string
}

/** Proposals in a row without a gain, or without anything new, after which a lever ends. */
const patience = 10
/** Share of the allowance for joining what levers have found, where each lever gets the same. */
const joining = 0.15

/**
 * Spends an allowance over levers.
 *
 * - `adaptive`: each time the lever whose next proposal promises most for its cost. What a lever finds is joined at once with what others have found.
 * - `equal`: each lever gets the same part. At the end, what they found is joined.
 *
 * A proposal is screened on training tasks against the lever's best; if it gains there, it is tried on the selection
 * tasks against the original.
 */
export async function search(given: SearchOptions): Promise<SearchResult> {
  const { levers, picker, original } = given
  const state: SearchState = { arms: levers.map((lever) => newArm(lever, original)), joined: createJoined() }
  const { arms, joined } = state
  const knownTo = (arm: Arm): AgentKnowledge => withShare(given.knownTo(arm), () => leftFor(state, given) / 2)
  const options = { ...given, knownTo }
  let isReached = false
  try {
    await (picker === 'equal' ? divide(state, options) : follow(state, options))
  } catch (error) {
    if (!(error instanceof BudgetEnded)) throw error
    isReached = true
  }
  for (const arm of arms) {
    const reason = arm.ended === undefined ? waitsFor(arm, state, options) : undefined
    if (reason !== undefined) arm.ended = arm.round === 0 ? `not used: ${reason}` : reason
  }
  const isExhausted = !isReached && arms.every(({ ended }) => ended !== undefined)
  const stopped = isExhausted
    ? 'nothing more is likely to help: every lever that could be used has ended'
    : 'the budget for the search is used up'
  return {
    arms,
    best: bestOf(arms, joined.candidates),
    stopped: isSolved(state, options) ? 'the best setup solves every selection task' : stopped,
  }
}

/** Whether no setup can gain more on the selection tasks. */
const isSolved = (state: SearchState, { before }: SearchOptions): boolean =>
  before + bestFound(state).gain > 1 - 1e-9

/** Each lever gets the same part of the allowance, and one proposal even if that costs more, unless its price says so before. They take turns. */
async function divide(state: SearchState, given: SearchOptions): Promise<void> {
  const { arms } = state
  const most = (): number => allowanceOf(state, given) * (1 - joining)
  const share = (most() - given.spent()) / arms.length
  const knownTo = (arm: Arm): AgentKnowledge =>
    withShare(given.knownTo(arm), () => inTokens(share - arm.spent, given))
  const options = { ...given, knownTo }
  const mayPropose = (arm: Arm): boolean =>
    arm.ended === undefined &&
    waitsFor(arm, state, options) === undefined &&
    (arm.round === 0
      ? outlookFor(arm, state, options).upfront <= share
      : arm.spent + arm.spent / arm.round <= share)
  for (
    let open = arms.filter(mayPropose);
    open.length > 0 && fits(options, most()) && !isSolved(state, options);
    open = arms.filter(mayPropose)
  )
    for (const arm of open)
      if (fits(options, most()) && !isSolved(state, options)) await pull(arm, state, options)
  const found = arms.filter(({ gain }) => gain > 0).sort((a, b) => b.gain - a.gain)
  for (const arm of found) await joinWith(arm, state, options)
}

/** What a lever knows, where a training may take no more tokens than this. */
export function withShare(known: AgentKnowledge, most: () => number): AgentKnowledge {
  const { training } = known
  if (typeof training === 'string') return known
  return { ...known, training: { ...training, share: () => Math.min(most(), training.share()) } }
}

/** Tokens that neither the test of the best setup so far nor the selection of a trained model needs. */
function leftFor(state: SearchState, options: SearchOptions): number {
  const { spent, selection, trials } = options
  const tried = 2 * costOf(bestSetup(state), options) * selection.length * trials
  return inTokens(allowanceOf(state, options) - spent() - tried, options)
}

/** A part of the budget in tokens of a training. A budget in dollars limits no training here, which costs none. */
function inTokens(amount: number, { unit }: SearchOptions): number {
  const perToken = unit({ tokens: 1, dollars: 0 })
  return perToken === 0 ? Infinity : amount / perToken
}

/**
 * Each time the lever that promises most may propose, until all have ended or nothing more can be paid. None gets more than an equal part before all have
 * proposed that can do so with an equal part: a lever that has not been tried may be better than it promises.
 */
async function follow(state: SearchState, options: SearchOptions): Promise<void> {
  const part = (allowanceOf(state, options) - options.spent()) / state.arms.length
  const knownTo = (arm: Arm): AgentKnowledge => withShare(options.knownTo(arm), () => inTokens(part, options))
  const withPart = { ...options, knownTo }
  const isCheap = (arm: Arm): boolean =>
    waitsFor(arm, state, withPart) === undefined && outlookFor(arm, state, withPart).price <= part
  for (;;) {
    const open = state.arms.filter(
      (arm) => arm.ended === undefined && waitsFor(arm, state, options) === undefined,
    )
    if (open.length === 0 || !fits(options, allowanceOf(state, options)) || isSolved(state, options)) return
    let arm = mostPromising(open, state, options)
    const untried = open.filter((one) => one.round === 0 && isCheap(one))
    if (arm.spent > part && untried.length > 0) arm = mostPromising(untried, state, options)
    if (await pull(arm, state, options)) await joinWith(arm, state, options)
  }
}

function mostPromising(arms: readonly Arm[], state: SearchState, options: SearchOptions): Arm {
  const promises = arms.map((arm) => promiseOf(arm, outlookFor(arm, state, options)))
  return arms[promises.indexOf(Math.max(...promises))]
}

const outlookFor = (arm: Arm, state: SearchState, options: SearchOptions): Outlook =>
  outlookOf(arm, contextOf(arm, bestSetup(state), options), state, options)

/** What a lever lacks to propose; undefined if nothing. */
function waitsFor(arm: Arm, state: SearchState, options: SearchOptions): string | undefined {
  const context = contextOf(arm, bestSetup(state), options)
  return arm.lever.unusable(context) ?? arm.lever.waitsFor?.(context)
}

/** Whether another proposal is likely to fit into the allowance. */
function fits({ selection, trials, costOfTrial, spent }: SearchOptions, most: number): boolean {
  return spent() + costOfTrial * (4 * firstLook + selection.length * trials) <= most
}

/** Lets a lever propose once, and tries what it proposes. True if the lever has a better setup than before. */
async function pull(arm: Arm, state: SearchState, options: SearchOptions): Promise<boolean> {
  const { onArm, onCandidate, spent } = options
  const [before, gain] = [spent(), arm.gain]
  const proposals = await arm.lever.propose(contextOf(arm, bestSetup(state), options))
  const hasGained =
    proposals.length > 0 && (await tryProposals(arm, proposals, { state, options, onCandidate }))
  arm.without = hasGained ? 0 : arm.without + 1
  if (hasGained) arm.lastStep = arm.gain - gain
  if (arm.without >= patience)
    arm.ended =
      proposals.length === 0
        ? 'it has nothing more to propose'
        : `${patience} proposals in a row brought no gain`
  arm.round += 1
  arm.spent += spent() - before
  if (arm.ended !== undefined) onArm(arm)
  return hasGained
}

/** What a lever knows when it proposes. */
export function contextOf(
  arm: Arm,
  bestFound: AgentSetup,
  options: Pick<SearchOptions, 'made' | 'train' | 'original' | 'seed' | 'knownTo'>,
): LeverContext {
  const { made, train, original, seed } = options
  const { lever, best, round, candidates } = arm
  const names = new Set(train.map(({ id }) => id))
  return {
    ...options.knownTo(arm),
    original,
    best,
    bestFound,
    round,
    candidates,
    train,
    random: createRandom('optimise', seed, lever.name, round),
    trials: (setup) => made.known(setup).filter(({ task }) => names.has(task.id)),
    tryOut: (setup, tasks) => made.run(tasks.map((task) => ({ setup, task, trial: 0 }))),
  }
}

function bestOf(arms: readonly Arm[], joined: readonly Candidate[]): SearchResult['best'] {
  const all = [...arms.flatMap(({ candidates }) => candidates), ...joined]
  const best = all.reduce<Candidate | undefined>(
    (top, one) => ((one.gain ?? 0) > (top?.gain ?? 0) ? one : top),
    undefined,
  )
  if (best === undefined) return null
  const { setup, gain, about, lever } = best
  return { setup, gain: gain ?? 0, about, lever }
}
