import { createRandom } from '../../engine/random/random.ts'
import { average } from '../../statistics/statistics.ts'
import type { FileTask } from '../environment/mcp/goals/task-file.ts'
import { successPairs } from '../evaluation/episode-statistics.ts'
import { type AgentSetup, setupId } from '../setup/setup.ts'
import type { Candidate, Proposal, SetupTrial } from './lever.ts'
import type { Arm, SearchOptions } from './search.ts'
import type { WantedTrial } from './setup-trials.ts'

/** Training tasks that a proposal is screened with. */
export const screening = 12

interface Trying {
  arms: readonly Arm[]
  options: SearchOptions
  onCandidate: (candidate: Candidate) => void
}

/** Screens proposals and tries the best of them on the selection tasks. True if one is the lever's best now. */
export async function tryProposals(
  arm: Arm,
  proposals: readonly Proposal[],
  { arms, options, onCandidate }: Trying,
): Promise<boolean> {
  const { lever, round } = arm
  const candidates = proposals.map(({ setup, about }): Candidate => ({
    id: setupId(setup),
    lever: lever.name,
    round,
    setup,
    about,
    screened: null,
    gain: null,
  }))
  const affordable = candidates.filter((_, at) =>
    canPay(options.costOfTrial * (proposals[at].costFactor ?? 1), screening, arms, options),
  )
  const promising = lever.hasFew === true ? affordable : await screen(arm, affordable, options)
  let hasGained = false
  for (const candidate of candidates) {
    if (!affordable.includes(candidate)) candidate.rejected = tooExpensive
    else if (!promising.includes(candidate))
      candidate.rejected = 'no better than before on the training tasks'
    else if (!canPay(costOf(candidate.setup, options), 0, arms, options)) candidate.rejected = tooExpensive
    else hasGained = (await select(candidate, arm, options)) || hasGained
    arm.candidates.push(candidate)
    onCandidate(candidate)
  }
  return hasGained
}

/** Tries candidates on a few training tasks against the lever's best. Returns the two that gain most there. */
async function screen(
  arm: Arm,
  candidates: readonly Candidate[],
  options: SearchOptions,
): Promise<Candidate[]> {
  const tasks = screeningTasks(arm, options)
  const setups = [arm.best, ...candidates.map(({ setup }) => setup)]
  const all = await options.made.run(setups.flatMap((setup) => wantedOf(setup, tasks, 1)))
  const [ofParent, ...ofCandidates] = chunks(all, tasks.length)
  for (const [at, candidate] of candidates.entries()) candidate.screened = gainOf(ofCandidates[at], ofParent)
  return candidates
    .filter(({ screened }) => (screened ?? 0) > 0)
    .sort((a, b) => (b.screened ?? 0) - (a.screened ?? 0))
    .slice(0, 2)
}

const tooExpensive = 'too expensive for what is left of the budget'

/** Whether trials of a setup, of which one costs so much, and its test at the end fit into the budget. */
export function canPay(
  cost: number,
  screened: number,
  arms: readonly Arm[],
  options: SearchOptions,
): boolean {
  const { spent, selection, trials } = options
  return spent() + cost * (screened + selection.length * trials) <= allowanceOf(arms, options, cost)
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

/** What the search may spend, when the test is of the best setup so far whose trials cost most, or of one that costs `atLeast`. */
export function allowanceOf(
  arms: readonly Arm[],
  options: SearchOptions,
  atLeast = options.costOfTrial,
): number {
  return options.allowanceFor(Math.max(atLeast, ...arms.map(({ best }) => costOf(best, options))))
}

/** The mean cost of the trials of a setup. */
export function costOf(setup: AgentSetup, { made, unit, costOfTrial }: SearchOptions): number {
  const known = made.known(setup)
  return known.length === 0 ? costOfTrial : average(known.map(({ record }) => unit(record.cost)))
}
