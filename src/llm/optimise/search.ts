import { createRandom } from '../../engine/random/random.ts'
import type { Spending } from '../project/budget.ts'
import type { FileTask } from '../environment/mcp/goals/task-file.ts'
import { type AgentSetup, setupId } from '../setup/setup.ts'
import type { Candidate, Lever, LeverContext } from './lever.ts'
import { BudgetEnded, type SetupTrials } from './setup-trials.ts'
import { allowanceOf, canPay, costOf, screening, selectionGain, tryProposals } from './try-proposals.ts'

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
  /** In the unit of the budget. */
  spent: number
  /** Why it ended; absent while it goes on. */
  ended?: string
}

/** A lever that has proposed nothing yet. */
export function newArm(lever: Lever, original: AgentSetup): Arm {
  return { lever, best: original, gain: 0, candidates: [], round: 0, without: 0, spent: 0 }
}

/** What a search needs. */
export interface SearchOptions {
  levers: readonly Lever[]
  picker: Picker
  original: AgentSetup
  train: readonly FileTask[]
  selection: readonly FileTask[]
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
const patience = 6
/** Share of the allowance for joining what levers have found. */
const joining = 0.15

/**
 * Spends an allowance over levers. With `halving` all levers get an equal part of the first round; after each round the half with the smaller gain
 * is left out, so the better ones get more. Levers that are equal to the last one that is kept stay too. With `equal` each lever gets the same.
 *
 * A proposal is screened on training tasks against the lever's best (unless the lever has few); if it gains there, it is tried on the selection
 * tasks against the original. At
 * the end the best setups of different levers are joined, as long as that gains.
 *
 * Source: Karnin, Koren & Somekh, Almost Optimal Exploration in Multi-Armed Bandits (ICML 2013), sequential halving; here an arm improves while it
 * is pulled, as in Jamieson & Talwalkar (arXiv 1502.07943).
 */
export async function search(options: SearchOptions): Promise<SearchResult> {
  const { levers, picker, original } = options
  const arms = levers.map((lever) => newArm(lever, original))
  const rounds = picker === 'equal' ? 1 : Math.max(1, Math.ceil(Math.log2(arms.length)))
  const joined: Candidate[] = []
  let isReached = false
  try {
    let open: Arm[] = [...arms]
    for (let round = 0; round < rounds && open.length > 0; round += 1) {
      const forLevers = allowanceOf(arms, options) * (1 - joining)
      for (const arm of open)
        await spendOn(arm, arms, arm.spent + forLevers / (rounds * open.length), options)
      if (picker === 'halving' && round + 1 < rounds) open = halve(open, options)
      open = open.filter(({ ended }) => ended === undefined)
    }
    // What levers that ended early have left goes to those that still find something.
    if (picker === 'halving') for (const arm of ranked(open)) await spendOn(arm, arms, Infinity, options)
    await join(arms, joined, options)
  } catch (error) {
    if (!(error instanceof BudgetEnded)) throw error
    isReached = true
  }
  const isExhausted = !isReached && arms.every(({ ended }) => ended !== undefined)
  return {
    arms,
    best: bestOf(arms, joined),
    stopped: isExhausted
      ? 'nothing more is likely to help: every lever that could be used has ended'
      : 'the budget for the search is used up',
  }
}

/** Lets a lever propose until it has spent its share, or ended. */
async function spendOn(arm: Arm, arms: readonly Arm[], share: number, options: SearchOptions): Promise<void> {
  const most = (): number => allowanceOf(arms, options) * (1 - joining)
  while (arm.ended === undefined && arm.spent < share && fits(options, most())) await pull(arm, arms, options)
}

/** By the gain on the selection tasks; where that is equal, by the best gain on training tasks. */
const ranked = (arms: readonly Arm[]): Arm[] =>
  [...arms].sort((a, b) => b.gain - a.gain || promiseOf(b) - promiseOf(a))

const promiseOf = ({ candidates }: Arm): number =>
  Math.max(0, ...candidates.map(({ screened }) => screened ?? 0))

function halve(open: readonly Arm[], { onArm }: SearchOptions): Arm[] {
  const order = ranked(open)
  const last = order[Math.ceil(order.length / 2) - 1]
  const isTied = (arm: Arm): boolean => arm.gain === last.gain && promiseOf(arm) === promiseOf(last)
  const kept = order.filter((arm, at) => at < order.length / 2 || isTied(arm))
  for (const arm of order) {
    if (arm.ended !== undefined || kept.includes(arm)) continue
    arm.ended = 'others gained more'
    onArm(arm)
  }
  return kept
}

/** Whether another proposal is likely to fit into the allowance. */
function fits({ selection, trials, costOfTrial, spent }: SearchOptions, most: number): boolean {
  return spent() + costOfTrial * (4 * screening + selection.length * trials) <= most
}

/** Lets a lever propose once, and tries what it proposes. */
async function pull(arm: Arm, arms: readonly Arm[], options: SearchOptions): Promise<void> {
  const { onArm, onCandidate, spent } = options
  const before = spent()
  const proposals = await arm.lever.propose(contextOf(arm, options))
  const hasGained =
    proposals.length > 0 && (await tryProposals(arm, proposals, { arms, options, onCandidate }))
  arm.without = hasGained ? 0 : arm.without + 1
  if (arm.without >= patience)
    arm.ended =
      proposals.length === 0
        ? 'it has nothing more to propose'
        : `${patience} proposals in a row brought no gain`
  arm.round += 1
  arm.spent += spent() - before
  if (arm.ended !== undefined) onArm(arm)
}

/** What a lever knows when it proposes. */
export function contextOf(
  arm: Arm,
  options: Pick<SearchOptions, 'made' | 'train' | 'original' | 'seed' | 'knownTo'>,
): LeverContext {
  const { made, train, original, seed } = options
  const { lever, best, round, candidates } = arm
  const names = new Set(train.map(({ id }) => id))
  return {
    ...options.knownTo(arm),
    original,
    best,
    round,
    candidates,
    train,
    random: createRandom('optimise', seed, lever.name, round),
    trials: (setup) => made.known(setup).filter(({ task }) => names.has(task.id)),
    tryOut: (setup, tasks) => made.run(tasks.map((task) => ({ setup, task, trial: 0 }))),
  }
}

/** Adds to the best setup what other levers have found, the best first, and keeps what gains. */
async function join(arms: readonly Arm[], joined: Candidate[], options: SearchOptions): Promise<void> {
  const { onCandidate } = options
  const [first, ...others] = ranked(arms).filter(({ gain }) => gain > 0)
  if (first === undefined) return
  let { best, gain } = first
  const names = [first.lever.name]
  for (const [at, { best: other, lever }] of others.entries()) {
    const setup = { ...other, ...best }
    const cost = costOf(best, options) + costOf(other, options)
    if (setupId(setup) === setupId(best) || !canPay(cost, 0, arms, options)) continue
    const candidate: Candidate = {
      id: setupId(setup),
      lever: [...names, lever.name].join(' + '),
      round: at,
      setup,
      about: `what ${[...names, lever.name].join(' and ')} found`,
      screened: null,
      gain: await selectionGain(setup, options),
    }
    if ((candidate.gain ?? 0) > gain) {
      best = setup
      gain = candidate.gain ?? 0
      names.push(lever.name)
    } else candidate.rejected = 'no better than without the addition'
    joined.push(candidate)
    onCandidate(candidate)
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
