import { defineEnvironment } from '../../environment/index.ts'
import type { EnvironmentDefinition } from '../../environment/index.ts'
import { clipped, diagnosticBase } from './base.ts'
import type { DiagnosticKind } from './diagnostic.ts'

/**
 * The first observation is -1 or 1, all others are 0; after `steps` steps the last action pays 1 if it is the choice
 * that was shown (0 for -1), else costs 1; or the squared distance from what was shown is its cost. Without memory the best
 * mean return is 0, or -1.
 */
export const memoryDiagnostic = (steps: number, kind: DiagnosticKind): EnvironmentDefinition =>
  defineEnvironment({
    ...diagnosticBase(kind),
    name: `probe-memory-${kind}`,
    context: { reward: { default: 1, low: 0.5, high: 2, about: 'scale of the reward' } },
    /** What was shown, and the steps that were taken. */
    stateSize: 2,
    reset({ state }, i, random) {
      state[2 * i] = random.integers(2) === 1 ? 1 : -1
      state[2 * i + 1] = 0
    },
    step({ state, context, actions, rewards, terminated }, i) {
      const shown = state[2 * i]
      const last = ++state[2 * i + 1] === steps
      const miss = clipped(actions[i]) - shown
      const isRight = actions[i] === (shown === 1 ? 1 : 0)
      const outcome = kind === 'continuous' ? -miss * miss : isRight ? 1 : -1
      rewards[i] = last ? context.reward[i] * outcome : 0
      terminated[i] = last ? 1 : 0
    },
    observe({ state, observations }, i) {
      observations[i] = state[2 * i + 1] === 0 ? state[2 * i] : 0
    },
  })
