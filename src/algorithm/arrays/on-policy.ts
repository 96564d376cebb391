import type { AnyVector } from '../../environment/index.ts'
import type { ParameterSet } from '../../nn/index.ts'
import { clipActionRows } from '../../policy/index.ts'
import type { ActorCritic } from '../../policy/index.ts'
import type { Random } from '../../random/index.ts'
import type { ArrayAgent, UpdateMetrics } from './agent.ts'
import { keptArray, keptParts, keptValue } from './kept.ts'
import type { Kept } from './kept.ts'
import type { Rollout } from './rollout.ts'

/** What makes a learner from rollouts of its own policy. */
export interface OnPolicyLearner {
  policy: ActorCritic
  parameters: ParameterSet
  rollout: Rollout
  /** Where actions and the order of minibatches are drawn from. */
  drawing: Random
  /** Learns from the rollout, whose advantages are there; `left` is the share of the run that is left. */
  update: (left: number) => UpdateMetrics | Promise<UpdateMetrics>
  /** Of what the update keeps, under names of its own. */
  kept: Readonly<Record<string, Kept>>
  dispose: () => Promise<void>
}

/** Fills a rollout with the policy's own steps, and updates whenever it is full. */
export function onPolicyAgent(
  environment: AnyVector,
  settings: { gamma: number; lambda: number },
  totalSteps: number,
  { policy, parameters, rollout, drawing, update, kept, dispose }: OnPolicyLearner,
): ArrayAgent {
  const slots = environment.slots.count
  let seen = 0

  function learnFromRollout(): UpdateMetrics | Promise<UpdateMetrics> {
    rollout.finish(settings, (observations, rows, values) =>
      policy.evaluate(parameters, observations, rows, values),
    )
    return update(1 - seen / totalSteps)
  }

  return {
    act() {
      const to = rollout.next()
      policy.act(parameters, environment.observations, slots, to, drawing, environment.actionMask)
      rollout.acted()
    },
    learn() {
      seen += slots
      return rollout.stepped() ? learnFromRollout() : undefined
    },
    decide(observations, rows, actions, mask) {
      policy.act(parameters, observations, rows, { actions }, undefined, mask)
      clipActionRows(environment.world.action, actions, rows)
    },
    values: (observations, rows, values) => policy.evaluate(parameters, observations, rows, values),
    ...keptParts({
      parameters: keptArray(parameters.data),
      ...kept,
      rollout,
      random: drawing,
      seen: keptValue(
        () => seen,
        (value) => (seen = value),
      ),
    }),
    dispose,
  }
}
