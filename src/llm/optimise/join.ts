import { type AgentSetup, setupId } from '../setup/setup.ts'
import type { Candidate } from './lever.ts'
import type { Arm, SearchOptions, SearchState } from './search.ts'
import { canPay, costOf, selectionGain } from './try-proposals.ts'

/** The best setup so far that joins what several levers have found, or what one has. */
export interface Joined {
  best: { setup: AgentSetup; gain: number; levers: readonly string[] } | null
  /** What was tried. */
  candidates: Candidate[]
}

/** Nothing was joined yet. */
export function createJoined(): Joined {
  return { best: null, candidates: [] }
}

/**
 * Joins what a lever has found with the best so far, if the selection tasks show more gain than either has. Where both change the same part of the setup,
 * that of the one with the larger gain counts.
 */
export async function joinWith(arm: Arm, state: SearchState, options: SearchOptions): Promise<void> {
  const { joined } = state
  const { best: before } = joined
  const own = { setup: arm.best, gain: arm.gain, levers: [arm.lever.name] }
  const isBetter = before === null || own.gain > before.gain
  if (isBetter) joined.best = own
  if (before === null || before.levers.every((name) => name === arm.lever.name)) return
  const [main, other] = isBetter ? [arm.best, before.setup] : [before.setup, arm.best]
  const { checkpoints: _, ...parts } = other
  if (Object.keys(parts).every((part) => part in main)) return
  const setup = { ...(main.model === undefined ? other : parts), ...main }
  const known = [before.setup, arm.best, ...joined.candidates.map((one) => one.setup)].map(setupId)
  const cost = costOf(before.setup, options) + costOf(arm.best, options)
  if (known.includes(setupId(setup)) || !canPay(cost, 0, state, options)) return
  const levers = [...new Set([...before.levers, arm.lever.name])]
  const candidate: Candidate = {
    id: setupId(setup),
    lever: levers.join(' + '),
    round: joined.candidates.length,
    setup,
    about: `what ${levers.join(' and ')} found`,
    screened: null,
    gain: await selectionGain(setup, options),
  }
  if ((candidate.gain ?? 0) > Math.max(own.gain, before.gain))
    joined.best = { setup, gain: candidate.gain ?? 0, levers }
  else candidate.rejected = 'no better than without the addition'
  joined.candidates.push(candidate)
  options.onCandidate(candidate)
}
