import { defineEnvironment } from '../../environment/index.ts'
import type { ContextSpace } from '../../environment/index.ts'
import { clipped, diagnosticBase } from './base.ts'
import type { Diagnostic, DiagnosticKind } from './diagnostic.ts'

const reward = { default: 1, low: 0.5, high: 2, about: 'of the right choice' }
const target = {
  default: 0.5,
  low: 0.2,
  high: 0.8,
  about: 'best continuous action, its sign that of what is seen',
}

/** One step: choice 1 pays 1 and choice 0 costs 1; or the squared distance from the target is the cost. */
const choose = (kind: DiagnosticKind, name: string, sees: boolean) =>
  defineEnvironment<ContextSpace>({
    ...diagnosticBase(kind),
    name: `probe-${name}-${kind}`,
    context: kind === 'discrete' ? { reward } : { target },
    reset({ state }, i, random) {
      state[i] = sees && random.integers(2) === 0 ? -1 : 1
    },
    step({ state, context, actions, rewards, terminated }, i) {
      if (kind === 'discrete') {
        const right = state[i] === 1 ? 1 : 0
        rewards[i] = actions[i] === right ? context.reward[i] : -context.reward[i]
      } else {
        const miss = clipped(actions[i]) - state[i] * context.target[i]
        rewards[i] = -miss * miss
      }
      terminated[i] = 1
    },
  })

const best = (kind: DiagnosticKind): Record<-1 | 1, number> =>
  kind === 'discrete' ? { [-1]: 0, 1: 1 } : { [-1]: -0.5, 1: 0.5 }

/** There is one best action. */
export const policy = (kind: DiagnosticKind): Diagnostic => ({
  about: 'the policy moves towards what pays',
  definition: choose(kind, 'policy', false),
  actions: [[1, best(kind)[1]]],
})

/** The best action depends on what is seen. */
export const observedPolicy = (kind: DiagnosticKind): Diagnostic => ({
  about: 'the policy sees the observation, and advantages belong to their rows',
  definition: choose(kind, 'observed-policy', true),
  actions: [
    [-1, best(kind)[-1]],
    [1, best(kind)[1]],
  ],
})
