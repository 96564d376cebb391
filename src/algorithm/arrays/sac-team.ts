import { startPartner } from '../../tensor/index.ts'
import type { Partner } from '../../tensor/index.ts'
import { sacBoard } from './sac-board.ts'
import type { SacBoard, SacSizes } from './sac-board.ts'
import { createSacLearner } from './sac-learner.ts'
import type { SacLearner, SacLearnerState } from './sac-learner.ts'

/** What the second thread is asked; numbers from 0 on are gradient steps with so many updates of the actor. */
export const asked = { save: -1, load: -2 } as const

/** One or two learners as one: with two, each critic has a thread. */
export interface SacTeam extends Pick<SacLearner, 'actor' | 'step' | 'dispose'> {
  readonly board: SacBoard
  /** As of one learner with both critics. */
  state(): SacLearnerState
  restore(state: SacLearnerState): void
}

export async function createSacTeam(sizes: SacSizes, threads: number): Promise<SacTeam> {
  const board = threads > 1 ? sacBoard(sizes, true) : null
  if (board === null) return alone(sizes, threads)
  // Both compile at the same time.
  const starting = startPartner(import.meta.url, 'sac-thread', { sizes, board })
  const found: { partner: Partner | null } = { partner: null }
  const meet = (): void => found.partner?.meet()
  const learner = await createSacLearner(sizes, board, { rank: 0, of: 2, meet, threads: 1 })
  found.partner = await starting
  if (found.partner !== null) return together(board, learner, found.partner)
  await learner.dispose()
  return alone(sizes, threads)
}

async function alone(sizes: SacSizes, threads: number): Promise<SacTeam> {
  const board = sacBoard(sizes, false)!
  return { board, ...(await createSacLearner(sizes, board, { rank: 0, of: 1, meet: () => {}, threads })) }
}

function together(board: SacBoard, learner: SacLearner, partner: Partner): SacTeam {
  return {
    board,
    actor: learner.actor,
    step(times, updated) {
      partner.ask(times)
      return learner.step(times, updated)
    },
    state() {
      partner.ask(asked.save)
      partner.meet()
      return joined(learner.state(), partner.receive() as SacLearnerState)
    },
    restore(state) {
      learner.restore(half(state, 0))
      partner.send(half(state, 1))
      partner.ask(asked.load)
      partner.meet()
    },
    async dispose() {
      await partner.dispose()
      await learner.dispose()
    },
  }
}

function joined(a: SacLearnerState, b: SacLearnerState): SacLearnerState {
  const join = (x: Float32Array, y: Float32Array): Float32Array => {
    const both = new Float32Array(x.length + y.length)
    both.set(x)
    both.set(y, x.length)
    return both
  }
  return {
    ...a,
    critics: join(a.critics, b.critics),
    targets: join(a.targets, b.targets),
    criticAdam: {
      first: join(a.criticAdam.first, b.criticAdam.first),
      second: join(a.criticAdam.second, b.criticAdam.second),
      steps: a.criticAdam.steps,
    },
  }
}

function half(state: SacLearnerState, rank: 0 | 1): SacLearnerState {
  const part = (array: Float32Array): Float32Array =>
    array.slice((rank * array.length) / 2, ((rank + 1) * array.length) / 2)
  const { critics, targets, criticAdam } = state
  return {
    ...state,
    critics: part(critics),
    targets: part(targets),
    criticAdam: { ...criticAdam, first: part(criticAdam.first), second: part(criticAdam.second) },
  }
}
