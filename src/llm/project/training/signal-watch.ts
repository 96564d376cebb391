import { AgogeError } from '../../../error.ts'
import { informativeGroups } from '../../algorithm/advantages/group.ts'
import type { PlayedStep } from '../../training/train-agent.ts'

/** First steps in which some group must have rollouts of different reward. */
const patience = 3

/** Stops a training that cannot learn. */
export interface SignalWatch {
  /** Aborts with the training, or when it is found that nothing can be learnt. */
  signal: AbortSignal
  onStep: (step: PlayedStep) => void
  /** Why it was stopped, if the watch stopped it. */
  reason: () => AgogeError | undefined
}

/**
 * Watches the first steps of a training. Where the rollouts of each group have the same reward, no gradient tells good from bad; further steps
 * would change nothing.
 */
export function watchSignal(signal: AbortSignal | undefined): SignalWatch {
  const stop = new AbortController()
  let reason: AgogeError | undefined
  let silent = 0
  let rollouts = 0
  let successes = 0
  return {
    signal: signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]),
    reason: () => reason,
    onStep({ step, groups, success }) {
      if (step !== silent) return
      if (informativeGroups(groups.map(({ rewards }) => rewards)).length > 0) return
      silent += 1
      const count = groups.reduce((sum, { episodes }) => sum + episodes.length, 0)
      rollouts += count
      successes += success * count
      if (silent < patience) return
      reason = nothingToLearn(rollouts, successes / rollouts)
      stop.abort(reason)
    },
  }
}

function nothingToLearn(rollouts: number, success: number): AgogeError {
  const isSolved = success > 0.99
  return new AgogeError(
    `nothing can be learnt here: in the first ${patience} steps all rollouts of each task had the same reward`,
    {
      code: 'nothing-to-learn',
      given: `${rollouts} rollouts, of which ${Math.round(success * rollouts)} succeeded`,
      expected: 'tasks that the model sometimes solves and sometimes does not',
      hint: isSolved
        ? 'The model solves these tasks already: take harder ones'
        : 'Give easier tasks or a larger model, improve the prompt (agoge optimise), or begin with SFT on successes (--demonstrations FOLDER, or --demonstrations tasks)',
    },
  )
}
