import type { AnyVector } from '../environment/index.ts'
import type { ParameterSet } from '../../engine/nn/index.ts'
import { clipActionRows } from '../policy/index.ts'
import type { ActorCritic } from '../policy/index.ts'
import type { Random } from '../../engine/random/index.ts'
import type { ClassicAgent, UpdateMetrics } from './agent.ts'
import { stateOfArray, stateOfParts, stateOfValue } from './state-dict.ts'
import type { StateDict } from './state-dict.ts'
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
  storage: Readonly<Record<string, StateDict>>
  dispose: () => Promise<void>
}

/** Fills a rollout with the policy's own steps, and updates whenever it is full. */
export function onPolicyAgent(
  environment: AnyVector,
  settings: { gamma: number; lambda: number },
  totalSteps: number,
  { policy, parameters, rollout, drawing, update, storage, dispose }: OnPolicyLearner,
): ClassicAgent {
  const numEnvs = environment.numEnvs.count
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
      policy.act(parameters, environment.observations, numEnvs, to, drawing, environment.actionMask)
      rollout.acted()
    },
    learn() {
      seen += numEnvs
      return rollout.stepped() ? learnFromRollout() : undefined
    },
    predict(observations, rows, actions, mask) {
      policy.act(parameters, observations, rows, { actions }, undefined, mask)
      clipActionRows(environment.definition.action, actions, rows)
    },
    values: (observations, rows, values) => policy.evaluate(parameters, observations, rows, values),
    ...stateOfParts({
      parameters: stateOfArray(parameters.data),
      ...storage,
      rollout,
      random: drawing,
      seen: stateOfValue(
        () => seen,
        (value) => (seen = value),
      ),
    }),
    dispose,
  }
}
