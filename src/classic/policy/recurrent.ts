import { box } from '../environment/index.ts'
import type { EnvironmentDefinition } from '../environment/index.ts'
import type { ParameterSet, ParameterSpec } from '../../engine/nn/index.ts'
import type { Random } from '../../engine/random/index.ts'
import { concat, reshape, slice } from '../../engine/tensor/index.ts'
import type { Tensor } from '../../engine/tensor/index.ts'
import { mlpActorCritic } from './actor-critic.ts'
import type { ActorCritic, ActorCriticOptions } from './actor-critic.ts'
import type { ActionDistribution } from './distribution.ts'
import { gruLayer } from './gru.ts'
import { columnsNetwork, identityNetwork } from './network.ts'
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

/**
 * Two gated recurrent units, for the actor and for the critic, whose states side by side are the memory, with a perceptron over
 * each: as the LSTMs of sb3-contrib's RecurrentPPO, where the critic's errors do not disturb what the actor remembers.
 */
export function gruActorCritic(
  definition: EnvironmentDefinition,
  {
    size,
    hidden,
    activation = 'tanh',
    orthogonal = true,
  }: Omit<ActorCriticOptions, 'encoder' | 'sees'> & { size: number },
): RecurrentActorCritic {
  const front = overObservations(definition.observation, identityNetwork)
  const units = (['actor', 'critic'] as const).map((name) =>
    gruLayer({ inputs: front.outputs, size, prefix: `${name}.body.`, orthogonal }),
  )
  const width = 2 * size
  const heads = mlpActorCritic(
    { ...definition, observation: box([width], -1, 1) },
    {
      hidden,
      activation,
      orthogonal,
      sees: { actor: columnsNetwork(width, 0, size), critic: columnsNetwork(width, size, width) },
    },
  )
  let encoded = new Float32Array(0)
  let state = new Float32Array(0)

  function step(parameters: ParameterSet, x: Float32Array, memory: Float32Array, rows: number): void {
    if (encoded.length < rows * front.outputs) {
      encoded = new Float32Array(rows * front.outputs)
      state = new Float32Array(rows * size)
    }
    front.forward(parameters, x, rows, encoded)
    units.forEach((unit, i) => {
      for (let r = 0; r < rows; r++)
        for (let k = 0; k < size; k++) state[r * size + k] = memory[r * width + i * size + k]
      unit.step(parameters, encoded, state, rows)
      for (let r = 0; r < rows; r++)
        for (let k = 0; k < size; k++) memory[r * width + i * size + k] = state[r * size + k]
    })
  }

  return {
    specs: { ...units[0].specs, ...units[1].specs, ...heads.specs },
    distribution: heads.distribution,
    memorySize: width,
    trace(parameters, x, { memory, keep }) {
      const [batch, steps] = keep.shape
      const frames = reshape(front.trace(parameters, x), [batch, steps, front.outputs])
      const states = units.map((unit, i) => {
        const start = slice(memory, { axis: 1, start: i * size, end: (i + 1) * size })
        const after = unit.trace(parameters, frames, start, keep)
        return concat(
          after.map((each) => reshape(each, [batch, 1, size])),
          1,
        )
      })
      return heads.trace(parameters, reshape(concat(states, 2), [x.shape[0], width]))
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
