import { box } from '../environment/index.ts'
import type { World } from '../environment/index.ts'
import type { ParameterSet, ParameterSpec } from '../nn/index.ts'
import type { Random } from '../random/index.ts'
import { concat, reshape } from '../tensor/index.ts'
import type { Tensor } from '../tensor/index.ts'
import { mlpActorCritic } from './actor-critic.ts'
import type { ActorCritic } from './actor-critic.ts'
import type { ActionDistribution } from './distribution.ts'
import { gruLayer } from './gru.ts'
import type { MlpOptions } from './mlp.ts'
import { identityNetwork } from './network.ts'
import { overObservations } from './over-observations.ts'

/** A stochastic policy and an estimate of the value that carry a memory from step to step, zeros where an episode begins. */
export interface RecurrentActorCritic {
  readonly specs: Readonly<Record<string, ParameterSpec>>
  readonly distribution: ActionDistribution
  /** Numbers of memory a row. */
  readonly memorySize: number
  /**
   * B sequences of T steps: x [B * T, observation], a sequence's rows one after another, from the memory [B, memorySize];
   * before steps where `keep` [B, T] is 0 it is blank. To the distribution's parameters [B * T, p] and values [B * T, 1].
   */
  trace(
    parameters: Record<string, Tensor>,
    x: Tensor,
    from: { memory: Tensor; keep: Tensor },
  ): { parameters: Tensor; values: Tensor }
  /** As that of `ActorCritic`; `memory` [rows, memorySize] is read and changed. */
  act(
    parameters: ParameterSet,
    observations: Float32Array,
    memory: Float32Array,
    rows: number,
    to: Parameters<ActorCritic['act']>[3],
    random: Random | undefined,
    mask?: Uint8Array,
  ): void
  /** Values of rows; `memory` [rows, memorySize] is changed as well. */
  evaluate(
    parameters: ParameterSet,
    observations: Float32Array,
    memory: Float32Array,
    rows: number,
    values: Float32Array,
  ): void
}

/** A gated recurrent unit whose state is the memory, with perceptrons for actor and critic over it, as in CleanRL. */
export function gruActorCritic(
  world: World,
  { size, hidden, activation = 'tanh' }: Pick<MlpOptions, 'hidden' | 'activation'> & { size: number },
): RecurrentActorCritic {
  const front = overObservations(world.observation, identityNetwork)
  const gru = gruLayer({ inputs: front.outputs, size, prefix: 'body.' })
  const heads = mlpActorCritic(
    { ...world, observation: box([size], -1, 1) },
    {
      hidden,
      activation,
    },
  )
  let encoded = new Float32Array(0)

  function step(parameters: ParameterSet, x: Float32Array, memory: Float32Array, rows: number): void {
    if (encoded.length < rows * front.outputs) encoded = new Float32Array(rows * front.outputs)
    front.forward(parameters, x, rows, encoded)
    gru.step(parameters, encoded, memory, rows)
  }

  return {
    specs: { ...gru.specs, ...heads.specs },
    distribution: heads.distribution,
    memorySize: size,
    trace(parameters, x, { memory, keep }) {
      const [batch, steps] = keep.shape
      const frames = reshape(front.trace(parameters, x), [batch, steps, front.outputs])
      const states = gru
        .trace(parameters, frames, memory, keep)
        .map((state) => reshape(state, [batch, 1, size]))
      return heads.trace(parameters, reshape(concat(states, 1), [x.shape[0], size]))
    },
    act(parameters, observations, memory, rows, to, random, mask) {
      step(parameters, observations, memory, rows)
      heads.act(parameters, memory, rows, to, random, mask)
    },
    evaluate(parameters, observations, memory, rows, values) {
      step(parameters, observations, memory, rows)
      heads.evaluate(parameters, memory, rows, values)
    },
  }
}
