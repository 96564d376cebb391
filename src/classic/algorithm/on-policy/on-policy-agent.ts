import {
  compileObjective,
  type Objective,
  type ParameterSet,
  type BatchMember,
} from '../../../engine/nn/index.ts'
import type { Random } from '../../../engine/random/index.ts'
import { add, mean, mul, neg, reshape, square, sub } from '../../../engine/tensor/index.ts'
import { type AnyVector, rowSize } from '../../environment/index.ts'
import { type ActorCritic, clipActionRows } from '../../policy/index.ts'
import {
  type ClassicAgent,
  type StateDict,
  stateOfArray,
  stateOfParts,
  stateOfValue,
  type UpdateMetrics,
} from '../agent.ts'
import type { Rollout } from './rollout.ts'

export interface PolicyGradientConfig {
  entropy: number
  /** Weight of the squared error of the value. 0 learns no value. */
  valueWeight: number
}

/** Metrics of a policy gradient. */
type PolicyGradientMetric = 'policyLoss' | 'valueLoss' | 'entropy'

/**
 * Compiles the loss -mean(advantage log pi(a|s)) - entropy bonus + valueWeight mean((V(s) - return)^2). Inputs are
 * rows of observations, actions, advantages and returns, and maskPenalty if the environment masks actions.
 */
export function compilePolicyGradient(
  environment: AnyVector,
  policy: ActorCritic,
  options: PolicyGradientConfig & { name: string; threads: number; batch?: BatchMember | undefined },
): Promise<Objective<PolicyGradientMetric>> {
  const { name, threads, batch, entropy, valueWeight } = options
  const choices = environment.actionMask.length / environment.envs.count
  return compileObjective<PolicyGradientMetric>({
    name,
    threads,
    batch,
    parameters: Object.fromEntries(Object.entries(policy.specs).map(([key, { shape }]) => [key, shape])),
    inputs: {
      observations: { shape: ['B', rowSize(environment.definition.observation)] },
      actions: { shape: ['B', policy.distribution.actionSize] },
      advantages: { shape: ['B'] },
      returns: { shape: ['B'] },
      ...(choices > 0 ? { maskPenalty: { shape: ['B', choices] } } : {}),
    },
    trace(weights, { observations, actions, advantages, returns, maskPenalty }) {
      const found = policy.trace(weights, observations)
      const logprob = policy.distribution.logprob(found.parameters, actions, maskPenalty)
      const policyLoss = neg(mean(mul(logprob, advantages)))
      const meanEntropy = mean(policy.distribution.entropy(found.parameters, maskPenalty))
      const valueLoss = mean(square(sub(reshape(found.values, ['B']), returns)))
      const actorLoss = sub(policyLoss, mul(meanEntropy, entropy))
      return {
        loss: valueWeight === 0 ? actorLoss : add(actorLoss, mul(valueLoss, valueWeight)),
        outputs: { policyLoss, valueLoss, entropy: meanEntropy },
      }
    },
  })
}

/** A method that learns from rollouts of its own policy. */
interface OnPolicyLearner {
  policy: ActorCritic
  parameters: ParameterSet
  rollout: Rollout
  /** Random stream of the actions and of the order of minibatches. */
  drawing: Random
  /** Learns from the rollout, which has its advantages. `left`: the share of the run that is left. */
  update: (left: number) => UpdateMetrics | Promise<UpdateMetrics>
  /** State of the update, under its own names. */
  storage: Readonly<Record<string, StateDict>>
  dispose: () => Promise<void>
}

/** Fills a rollout with steps of the policy, and updates whenever it is full. */
export function onPolicyAgent(
  environment: AnyVector,
  settings: { gamma: number; lambda: number },
  totalSteps: number,
  { policy, parameters, rollout, drawing, update, storage, dispose }: OnPolicyLearner,
): ClassicAgent {
  const numEnvs = environment.envs.count
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
