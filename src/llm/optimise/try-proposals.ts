import { createRandom } from '../../engine/random/random.ts'
import { defined } from '../../defined.ts'
import { average } from '../../statistics/statistics.ts'
import type { FileTask } from '../environment/mcp/goals/task-file.ts'
import { successPairs } from '../evaluation/episode-statistics.ts'
import { type AgentSetup, setupId } from '../setup/setup.ts'
import type { Candidate, Proposal, SetupTrial } from './lever.ts'
import type { Arm, SearchOptions, SearchState } from './search.ts'
import type { WantedTrial } from './setup-trials.ts'

/** Training tasks that a proposal is screened with. */
export const screening = 12
/** Those that a proposal must gain on to be tried on the others: as far as there are such, tasks that the lever's best fails at. */
export const firstLook = 4
/** A smaller gain on the training tasks is likely to be chance, and trying it on the selection tasks costs more than all before. */
const leastGain = 0.1

interface Trying {
  state: SearchState
  options: SearchOptions
  onCandidate: (candidate: Candidate) => void
}

/** Screens proposals and tries the best of them on the selection tasks. True if one is the lever's best now. */
export async function tryProposals(
  arm: Arm,
  proposals: readonly Proposal[],
  { state, options, onCandidate }: Trying,
): Promise<boolean> {
  const { lever, round } = arm
  const candidates = proposals.map(({ setup, about, from }): Candidate => ({
    id: setupId(setup),
    lever: lever.name,
    round,
    setup,
    about,
    ...defined({ from }),
    screened: null,
    gain: null,
  }))
  const affordable = candidates.filter((_, at) =>
    canPay(options.costOfTrial * (proposals[at].costFactor ?? 1), firstLook, state, options),
  )
  const promising = lever.hasFew === true ? affordable : await screen(arm, affordable, options)
  let hasGained = false
  for (const candidate of candidates) {
    if (!affordable.includes(candidate)) candidate.rejected = tooExpensive
    else if (!promising.includes(candidate))
      candidate.rejected = 'hardly better than before on the training tasks'
    else if (!canPay(costOf(candidate.setup, options), 0, state, options)) candidate.rejected = tooExpensive
    else hasGained = (await select(candidate, arm, options)) || hasGained
    arm.candidates.push(candidate)
    onCandidate(candidate)
  }
  return hasGained
}

/**
 * Tries candidates on a few training tasks against the lever's best, first on tasks that it fails at: a candidate that solves none of these is tried on
 * no others. Returns the two that gain most.
 */
async function screen(
  arm: Arm,
  candidates: readonly Candidate[],
  options: SearchOptions,
): Promise<Candidate[]> {
  const tasks = screeningTasks(arm, options)
  const first = await screenOn(tasks.slice(0, firstLook), arm, candidates, options)
  const solving = candidates.filter((_, at) => first[at] > 0)
  for (const [at, candidate] of candidates.entries()) candidate.screened = first[at]
  const gains = solving.length === 0 ? [] : await screenOn(tasks, arm, solving, options)
  for (const [at, candidate] of solving.entries()) candidate.screened = gains[at]
  return solving
    .filter(({ screened }) => (screened ?? 0) > leastGain)
    .sort((a, b) => (b.screened ?? 0) - (a.screened ?? 0))
    .slice(0, 2)
}

/** The gain of each candidate on some tasks. */
async function screenOn(
  tasks: readonly FileTask[],
  arm: Arm,
  candidates: readonly Candidate[],
  { made }: SearchOptions,
): Promise<number[]> {
  const setups = [arm.best, ...candidates.map(({ setup }) => setup)]
  const all = await made.run(setups.flatMap((setup) => wantedOf(setup, tasks, 1)))
  const [ofParent, ...ofCandidates] = chunks(all, tasks.length)
  return ofCandidates.map((of) => gainOf(of, ofParent))
}

const tooExpensive = 'too expensive for what is left of the budget'

/** Whether trials of a setup, of which one costs so much, and its test at the end fit into the budget. */
export function canPay(cost: number, screened: number, state: SearchState, options: SearchOptions): boolean {
  const { spent, selection, trials } = options
  return spent() + cost * (screened + selection.length * trials) <= allowanceOf(state, options, cost)
}

/** Tries a candidate on the selection tasks. True if it is the lever's best now. */
async function select(candidate: Candidate, arm: Arm, options: SearchOptions): Promise<boolean> {
  candidate.gain = await selectionGain(candidate.setup, options)
  if (candidate.gain > arm.gain) {
    arm.best = candidate.setup
    arm.gain = candidate.gain
    return true
  }
  candidate.rejected =
    arm.gain > 0 ? 'no better on the selection tasks than the best so far' : 'no gain on the selection tasks'
  return false
}

/** The gain of a setup over the original on the selection tasks. */
export async function selectionGain(
  setup: AgentSetup,
  { made, selection, trials, original }: SearchOptions,
): Promise<number> {
  const wanted = wantedOf(setup, selection, trials)
  const all = await made.run([...wanted, ...wantedOf(original, selection, trials)])
  return gainOf(all.slice(0, wanted.length), all.slice(wanted.length))
}

const wantedOf = (setup: AgentSetup, tasks: readonly FileTask[], trials: number): WantedTrial[] =>
  tasks.flatMap((task) => Array.from({ length: trials }, (_, trial) => ({ setup, task, trial })))

/** The mean over tasks of the success of `a` less that of `b`; 0 if no task has a judged trial of both. */
function gainOf(a: readonly SetupTrial[], b: readonly SetupTrial[]): number {
  const pairs = successPairs(
    a.map(({ record }) => record),
    b.map(({ record }) => record),
  )
  return pairs.length === 0 ? 0 : average(pairs.map(({ gain }) => gain))
}

function chunks<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: all.length / size }, (_, at) => all.slice(at * size, (at + 1) * size))
}

/** Half of the tasks are ones that the lever's best fails at, where there are such: only there can anything be gained. */
function screeningTasks(arm: Arm, options: SearchOptions): FileTask[] {
  const { train, made, seed } = options
  const random = createRandom('optimise-screening', seed, arm.lever.name, arm.round)
  const failed = new Set(
    made.known(arm.best).flatMap(({ task, record }) => (record.success === false ? [task.id] : [])),
  )
  const order = random.shuffle(train)
  const hard = order.filter(({ id }) => failed.has(id)).slice(0, Math.ceil(screening / 2))
  return [...hard, ...order.filter((task) => !hard.includes(task))].slice(0, screening)
}

/** What the search may spend, when the test is of the best setup so far, or of one whose trials cost `atLeast`. */
export function allowanceOf(
  state: SearchState,
  options: SearchOptions,
  atLeast = options.costOfTrial,
): number {
  return options.allowanceFor(Math.max(atLeast, costOf(bestSetup(state), options)))
}

/** The setup with the largest gain so far. */
export const bestSetup = (state: SearchState): AgentSetup => bestFound(state).setup

/** The same with its gain; 0 for the original. */
export function bestFound({ arms, joined }: SearchState): { setup: AgentSetup; gain: number } {
  const found = [
    ...arms.map(({ best, gain }) => ({ setup: best, gain })),
    ...(joined.best === null ? [] : [joined.best]),
  ]
  return found.reduce((top, one) => (one.gain > top.gain ? one : top))
}

/** The mean cost of the trials of a setup. */
export function costOf(setup: AgentSetup, { made, unit, costOfTrial }: SearchOptions): number {
  const known = made.known(setup)
  return known.length === 0 ? costOfTrial : average(known.map(({ record }) => unit(record.cost)))
}
